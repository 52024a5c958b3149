import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'

/** Shows the attributes of paths. */
export async function checkAttr(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('check-attr', ['all|a'], args)
  const { attributes, root } = git.repo()
  const [first, ...more] = options.plain
  const isAll = options.has('all')
  const names = isAll ? [] : options.paths ? options.plain : first === undefined ? [] : [first]
  const paths = isAll ? options.rest : (options.paths ?? more)
  if (!isAll && names.length === 0) throw new GitFailure('error: No attribute specified', 129)
  if (paths.length === 0) throw new GitFailure('error: No file specified', 129)
  for (const path of paths) {
    const full = git.resolve(path)
    if (!full.startsWith(`${root === '/' ? '' : root}/`))
      throw fatal(`${path}: '${path}' is outside repository at '${root}'`)
    const values = await attributes.of(full.slice(root === '/' ? 1 : root.length + 1))
    for (const name of isAll ? [...values.keys()] : names)
      git.line(`${git.repo().quoted(path)}: ${name}: ${shown(values.get(name))}`)
  }
  return 0
}

function shown(value: boolean | string | undefined): string {
  if (value === undefined) return 'unspecified'
  return value === true ? 'set' : value === false ? 'unset' : value
}
