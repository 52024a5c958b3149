// `tty` and `tput`: there is no terminal here, and only the type `dumb` is known.

import type { ShellCommand } from '../../shell-extensions.ts'
import { misuse, readGnuOptions } from '../gnu-options.ts'

type Run = ShellCommand['run']

export const runTty: Run = async (args) => {
  const spec = { name: 'tty', letters: 's', long: { silent: 's', quiet: 's' }, exitCode: 2 }
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const [extra] = read.operands
  if (extra !== undefined) return misuse(spec, `extra operand \u2018${extra}\u2019`)
  return { stdout: read.has('s') ? '' : 'not a tty\n', stderr: '', exitCode: 1 }
}

const EXIT_USAGE = 2
const EXIT_NO_TERMINAL = 3
const EXIT_NO_CAPABILITY = 4
const USAGE = 'Usage: tput [-T TERM] capability [parameter]...\n'

/** Of the dumb terminal. */
const SHOWN: Readonly<Record<string, string>> = {
  ...{
    cols: '80\n',
    lines: '24\n',
    colors: '-1\n',
    longname: '80-column dumb tty',
    bel: '\x07',
    cr: '\r',
    ind: '\n',
    cud1: '\n',
  },
}
/** Capabilities of other terminals: the answer is that they are missing. */
const ABSENT = new Set(
  `setaf setab setf setb op bold dim smso rmso smul rmul rev blink invis sitm ritm sgr0 sgr cup home el el1 ed cuu1 cuu cud cuf
  cub cub1 cuf1 civis cnorm cvvis smcup rmcup sc rc il il1 dl dl1 ich dch ech hpa vpa csr ri rin indn flash kcuu1 kcud1 kcub1
  kcuf1 khome kend smkx rmkx tsl fsl initc oc it xenl pairs`.split(/\s+/),
)

export const runTput: Run = async (args, { env }) => {
  const read = readGnuOptions(args, { name: 'tput', letters: 'T:SVx', stopsAtOperand: true, exitCode: EXIT_USAGE })
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const fail = (stderr: string, exitCode: number) => ({ stdout: '', stderr, exitCode })
  const refused = ['S', 'V', 'x'].find((letter) => read.has(letter))
  if (refused !== undefined) return fail(`tput: option -${refused} is not available here\n`, EXIT_USAGE)
  const terminal = read.value('T') ?? env.TERM ?? ''
  if (terminal === '') return fail('tput: No value for $TERM and no -T specified\n', EXIT_USAGE)
  if (terminal !== 'dumb') return fail(`tput: unknown terminal "${terminal}"\n`, EXIT_NO_TERMINAL)
  const [capability] = read.operands
  if (capability === undefined) return fail(USAGE, EXIT_USAGE)
  const shown = Object.hasOwn(SHOWN, capability) ? SHOWN[capability] : undefined
  if (shown !== undefined) return { stdout: shown, stderr: '', exitCode: 0 }
  if (ABSENT.has(capability)) return fail('', 1)
  if (['clear', 'init', 'reset'].includes(capability)) return fail('', EXIT_USAGE)
  return fail(`tput: unknown terminfo capability '${capability}'\n`, EXIT_NO_CAPABILITY)
}
