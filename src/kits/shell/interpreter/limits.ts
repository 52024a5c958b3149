// `ulimit`: there are no process limits here, so nothing can be set.

import type { StepResult } from './shape.ts'

const KINDS: readonly (readonly [letter: string, name: string])[] = [
  ['R', 'real-time non-blocking time  (microseconds, -R)'],
  ['c', 'core file size              (blocks, -c)'],
  ['d', 'data seg size               (kbytes, -d)'],
  ['e', 'scheduling priority                 (-e)'],
  ['f', 'file size                   (blocks, -f)'],
  ['i', 'pending signals                     (-i)'],
  ['l', 'max locked memory           (kbytes, -l)'],
  ['m', 'max memory size             (kbytes, -m)'],
  ['n', 'open files                          (-n)'],
  ['p', 'pipe size                (512 bytes, -p)'],
  ['q', 'POSIX message queues         (bytes, -q)'],
  ['r', 'real-time priority                  (-r)'],
  ['s', 'stack size                  (kbytes, -s)'],
  ['t', 'cpu time                   (seconds, -t)'],
  ['u', 'max user processes                  (-u)'],
  ['v', 'virtual memory              (kbytes, -v)'],
  ['x', 'file locks                          (-x)'],
]

export function runUlimit(args: readonly string[]): StepResult {
  const letters = args
    .filter((arg) => /^-\w/.test(arg))
    .join('')
    .replace(/[-HS]/g, '')
  const value = args.find((arg) => !arg.startsWith('-'))
  const unknown = [...letters].find((letter) => letter !== 'a' && !KINDS.some(([known]) => known === letter))
  if (unknown !== undefined) return failed(`-${unknown}: option is not available here`)
  // There are no core files.
  if (value === '0' && letters === 'c') return { stdout: '', stderr: '', exitCode: 0 }
  if (value !== undefined && value !== 'unlimited') return failed(`${value}: limits cannot be set here`)
  if (value !== undefined) return { stdout: '', stderr: '', exitCode: 0 }
  const shown = letters.includes('a') ? KINDS : KINDS.filter(([letter]) => letters.includes(letter))
  if (!letters.includes('a') && shown.length <= 1) return { stdout: 'unlimited\n', stderr: '', exitCode: 0 }
  return { stdout: shown.map(([, name]) => `${name} unlimited\n`).join(''), stderr: '', exitCode: 0 }
}

const failed = (message: string): StepResult => ({ stdout: '', stderr: `bash: ulimit: ${message}\n`, exitCode: 1 })
