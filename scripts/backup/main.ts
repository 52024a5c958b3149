// `npm run backup` and `npm run restore`: a state folder as one file, and back. The standard output carries the one line that
// says what was done; everything else goes to the standard error.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Fault, messageOf, outOfRoom } from '../start/fault.ts'
import { stateFolderOf } from '../start/paths.ts'
import { backUp } from './back-up.ts'
import { checkBackup, restore } from './restore.ts'

const USAGES = {
  backup: `Usage: npm run backup -- FILE [options]

Writes everything that a stopped service keeps into one file. It holds the keys of the service as well: keep it as secret.

  --state FOLDER   what to back up (BELLWETHER_STATE, default .wrangler/state)
  --overwrite      replaces a FILE that is there
  --help           this text`,
  restore: `Usage: npm run restore -- FILE [options]

Makes a state folder of a file that npm run backup wrote. All of it is checked before anything takes its place.

  --state FOLDER   where to restore to (BELLWETHER_STATE, default .wrangler/state)
  --overwrite      moves what is there aside and says where to
  --check          only checks that the file is whole
  --help           this text`,
} as const

type Command = keyof typeof USAGES

export type BackupWishes = {
  readonly help: boolean
  readonly file: string
  readonly state: string | undefined
  readonly overwrite: boolean
  readonly check: boolean
}

export async function main(command: string | undefined, args: readonly string[]): Promise<void> {
  try {
    if (command !== 'backup' && command !== 'restore') throw new Fault('The commands are backup and restore.')
    const wishes = readBackupArguments(command, args)
    console.log(wishes.help ? USAGES[command] : await run(command, wishes))
  } catch (error) {
    process.exitCode = 1
    const known = error instanceof Fault ? error : outOfRoom(error)
    console.error(known?.message ?? error)
  }
}

/** Throws a `Fault` that names an unknown option. */
export function readBackupArguments(command: Command, args: readonly string[]): BackupWishes {
  const options = {
    state: { type: 'string' },
    overwrite: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    check: { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parsed(() => parseArgs({ args: [...args], options, allowPositionals: true }), command)
  const isForBackup = command === 'backup' && values.check
  const [file = '', ...more] = positionals
  if (!values.help && (file === '' || more.length > 0 || isForBackup)) {
    const problem = isForBackup ? 'A backup is not checked: its restore is' : 'Name one file'
    throw new Fault(`${problem}. See: npm run ${command} -- --help`)
  }
  return { ...values, state: values.state, file }
}

function parsed<T>(parse: () => T, command: Command): T {
  try {
    return parse()
  } catch (error) {
    const [sentence = ''] = messageOf(error).split('. ')
    throw new Fault(`${sentence.replace(/\.$/, '')}. See: npm run ${command} -- --help`)
  }
}

/** The line that reports the result. */
async function run(command: Command, wishes: BackupWishes): Promise<string> {
  // npm runs a script in the package's folder; a path on the command line is relative to the user's folder.
  const file = resolve(process.env.INIT_CWD ?? process.cwd(), wishes.file)
  const stateDir = stateFolderOf({
    ...process.env,
    ...(wishes.state !== undefined && { BELLWETHER_STATE: wishes.state }),
  })
  if (command === 'backup') {
    const { count, bytes, damaged } = await backUp({ stateDir, file, overwrite: wishes.overwrite })
    for (const one of damaged) console.error(`Damaged, and in the backup as it is: ${one}`)
    return `backed up ${stateDir} to ${file}: ${count} files, ${bytes} bytes`
  }
  if (wishes.check) return `${file} is whole: ${await checkBackup(file)} files`
  const { count, aside } = await restore({ stateDir, file, overwrite: wishes.overwrite })
  const note = aside === null ? '' : `; what was there is in ${aside} now`
  return `restored ${stateDir} from ${file}: ${count} files${note}`
}
