import { lstatAt } from '../../../workspace/stat.ts'
import { parseArguments } from '../arguments.ts'
import { isBinary, textOf, utf8 } from '../bytes.ts'
import { failed, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { mergeText } from '../merge-text.ts'

const OPTIONS = ['stdout|p', 'L=', 'quiet|q', 'diff3', 'ours', 'theirs', 'union']
const MAX_EXIT = 127

/** Merges the changes of two files from a common third one; the first file is overwritten unless an option prevents it. */
export async function mergeFile(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('merge-file', OPTIONS, args)
  options.assertOne('ours', 'theirs', 'union')
  const [ours, base, theirs, ...more] = options.rest
  if (ours === undefined || base === undefined || theirs === undefined || more.length > 0)
    throw new GitFailure(
      'usage: git merge-file [<options>] [-L <name1> [-L <orig> [-L <name2>]]] <file1> <orig-file> <file2>',
      129,
    )
  const names = [ours, base, theirs]
  const texts: string[] = []
  for (const name of names) texts.push(await textAt(git, name))
  const [first = ours, second = base, third = theirs] = [0, 1, 2].map((i) => options.all('L')[i] ?? names[i])
  const [mine = '', old = '', other = ''] = texts
  const merged = mergeText(old, [mine, other], {
    ours: first,
    base: second,
    theirs: third,
    showsBase: options.has('diff3'),
    favour: (['ours', 'theirs', 'union'] as const).find((name) => options.has(name)),
  })
  if (options.has('stdout')) git.out(merged.text)
  else await git.fs.write(git.resolve(ours), utf8(merged.text))
  return Math.min(merged.conflicts, MAX_EXIT)
}

async function textAt(git: Invocation, name: string): Promise<string> {
  const path = git.resolve(name)
  if (lstatAt(git.fs, path)?.kind !== 'file')
    throw new GitFailure(`error: Could not stat ${name}: No such file or directory`, 255)
  const bytes = await git.fs.read(path)
  if (isBinary(bytes)) throw failed(`Cannot merge binary files: ${name}`, 255)
  return textOf(bytes)
}
