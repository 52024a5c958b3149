// The text for `eval` and `source`: their arguments, a file, or the input.

import type { Watched } from './position.ts'
import type { CommandCall, StepResult } from './shape.ts'

export const STANDARD_INPUT = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/0)$/
const INPUT_FILE = '/dev/fd/9'

/** The interpreter only reads files, so the input is temporarily a file. */
export async function fromInput({ ctx }: Watched, stdin: string, run: (path: string) => Promise<StepResult>) {
  const { state, fs } = ctx
  const input = stdin === '' ? (state.groupStdin ?? '') : stdin
  if (stdin === '' && state.groupStdin !== undefined) state.groupStdin = ''
  await fs.writeFile(INPUT_FILE, input, 'binary')
  try {
    return await run(INPUT_FILE)
  } finally {
    await fs.rm(INPUT_FILE, { force: true })
  }
}

/** What `eval` and `source` are about to parse, and the file as it is called; nothing if there is none. */
export async function textIn(
  { ctx }: Watched,
  [name, given]: CommandCall,
): Promise<{ text: string; path: string | null }> {
  const args = given[0] === '--' ? given.slice(1) : given
  if (name === 'eval') return { text: args.join(' '), path: null }
  const [file = ''] = args
  const folders = file.includes('/') ? [] : (ctx.state.env.get('PATH') ?? '').split(':').filter(Boolean)
  for (const path of [...folders.map((folder) => `${folder}/${file}`), file]) {
    const resolved = ctx.fs.resolvePath(ctx.state.cwd, path)
    if (!(await ctx.fs.exists(resolved)) || (await ctx.fs.stat(resolved)).isDirectory) continue
    return { text: await ctx.fs.readFile(resolved), path }
  }
  return { text: '', path: null }
}
