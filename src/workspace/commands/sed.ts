// The copies that `sed -i.bak` keeps: the interpreter's `sed` edits in place and takes the suffix for other options.

import { type Context, original, type Result } from '../interpreter-command.ts'

interface Edit {
  args: string[]
  /** Null when no copies are kept. */
  suffix: string | null
  files: string[]
}

export async function sed(args: string[], context: Context): Promise<Result> {
  const { fs, cwd } = context
  const interpreters = original('sed', context)
  const { args: plain, suffix, files } = editOf(args)
  if (suffix === null) return interpreters(plain)
  const before = new Map<string, Uint8Array>()
  for (const file of files) {
    const path = fs.resolvePath(cwd, file)
    if (await fs.exists(path)) before.set(path, await fs.readFileBuffer(path))
  }
  const result = await interpreters(plain)
  if (result.exitCode !== 0) return result
  for (const [path, bytes] of before) await fs.writeFile(copyOf(path, suffix), bytes)
  return result
}

/** A star in the suffix stands for the name, and a slash leads to another folder. */
function copyOf(path: string, suffix: string): string {
  if (!suffix.includes('*')) return path + suffix
  const slash = path.lastIndexOf('/') + 1
  const copied = suffix.replaceAll('*', path.slice(slash))
  return copied.includes('/') ? copied : path.slice(0, slash) + copied
}

function editOf(args: readonly string[]): Edit {
  const edit: Edit = { args: [], suffix: null, files: [] }
  let hasScript = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg.startsWith('--in-place=')) {
      edit.suffix = arg.slice('--in-place='.length)
      edit.args.push('-i')
      continue
    }
    const [, before = '', value = '', rest = ''] = /^-([nrEsuz]*)([eflr]|i|)(.*)$/s.exec(arg) ?? []
    if (arg === '--' || !/^-./.test(arg) || arg.startsWith('--')) {
      edit.args.push(arg)
      if (/^--(expression|file)=/.test(arg)) hasScript = true
      if (arg.startsWith('-') && arg !== '-') continue
      if (hasScript) edit.files.push(arg)
      hasScript = true
      continue
    }
    if (value === 'i' && rest !== '') {
      edit.suffix = rest
      edit.args.push(`-${before}i`)
      continue
    }
    edit.args.push(arg)
    if (!['e', 'f', 'l'].includes(value)) continue
    hasScript ||= value !== 'l'
    if (rest === '') edit.args.push(args[++at] ?? '')
  }
  return edit
}
