// Rules for the files that a command names: files with secrets, and files that control git.

import type { Bench } from './bench.ts'
import { type Call, firstOperand, has, operandsOf, valuesOf } from './call.ts'
import {
  candidates,
  isAnyHidden,
  isGitConfig,
  isGitInternal,
  isOutside,
  isRunByItself,
  isSecretFile,
  isStartupFile,
  isToldLater,
} from './paths.ts'

/** Commands that show whether a file exists, its name or its size, but not its contents. */
const SHOW_NAMES: ReadonlySet<string> = new Set([
  ...[
    'ls',
    'dir',
    'test',
    '[',
    'echo',
    'printf',
    'stat',
    'basename',
    'dirname',
    'realpath',
    'readlink',
    'which',
    'type',
  ],
  ...[
    'tree',
    'du',
    'find',
    'cd',
    'pushd',
    'popd',
    'mkdir',
    'man',
    'help',
    'command',
    'export',
    'declare',
    'local',
    'set',
    ':',
  ],
  ...[
    'true',
    'false',
    'expr',
    'seq',
    'alias',
    'hash',
    'trap',
    'kill',
    'sleep',
    'exit',
    'return',
    'unset',
    'read',
    'xargs',
  ],
  ...[
    'git check-ignore',
    'git ls-files',
    'git status',
    'git check-attr',
    'git commit',
    'git tag',
    'git branch',
    'git config',
  ],
  ...[
    'git -c',
    'eval',
    'env',
    'sh',
    'bash',
    'parallel',
    'git grep',
    'git ls-tree',
    'git rev-parse',
    'git switch',
    'history',
  ],
])

/** Commands that only read. */
const READ: ReadonlySet<string> = new Set([
  ...[
    'cat',
    'head',
    'tail',
    'less',
    'more',
    'grep',
    'egrep',
    'fgrep',
    'rg',
    'wc',
    'diff',
    'cmp',
    'file',
    'uniq',
    'cut',
    'tr',
  ],
  ...[
    'nl',
    'od',
    'xxd',
    'hexdump',
    'strings',
    'md5sum',
    'sha1sum',
    'sha256sum',
    'cksum',
    'jq',
    'awk',
    'tac',
    'rev',
    'column',
  ],
  ...['comm', 'join', 'paste', 'fold', 'bat', 'zcat', 'cut', 'sum', 'b2sum'],
])

/** Commands that write the files named last, or after an option. */
const WRITE: ReadonlySet<string> = new Set([
  'cp',
  'mv',
  'ln',
  'install',
  'tee',
  'touch',
  'mkdir',
  'sponge',
  'rsync',
  'patch',
])

export function judgePaths(call: Call, bench: Bench): void {
  const { name } = call
  const isIndexOnly = name === 'git rm' && has(call.args, '', '--cached')
  const paths = isIndexOnly || isFirstCopy(call, bench) ? [] : pathsOf(call)
  const reads =
    READ.has(name) ||
    (name === 'sed' && !has(call.args, 'i', '--in-place')) ||
    (name === 'sort' && !has(call.args, 'o'))
  for (const path of paths) {
    bench.findings.spend()
    if (!SHOW_NAMES.has(name)) {
      for (const place of placesOf(path, bench)) judgePlace(place, path, { name, reads, bench })
    }
    if (WRITE.has(name) && isStartupFile(path)) bench.meet('startup-file')
  }
  const target = WRITE.has(name) ? operandsOf(call.args).at(-1) : undefined
  if (target === undefined) return
  if (placesOf(target, bench).some(isOutside)) bench.meet('outside-file')
  if (name !== 'mkdir' && OWN_FOLDER.test(target)) bench.meet('runs-by-itself')
}

/** Copying a sample to a file that does not exist yet: the sample contains no secret, and nothing is overwritten. */
function isFirstCopy({ name, args }: Call, bench: Bench): boolean {
  const [from = '', to = '', ...others] = args
  const isSample = /(^|\/)\.env\.(example|sample|template|dist|defaults?)$/.test(from)
  return (
    name === 'cp' &&
    others.length === 0 &&
    isSample &&
    /(^|\/)\.env(\.\w+)?$/.test(to) &&
    bench.findings.folders.isThere(to) === false
  )
}

/** A file that is put there may be a script that runs automatically. */
const OWN_FOLDER = /(^|\/)\.(bellwether|openhands)\/?$/i

type Use = { name: string; reads: boolean; bench: Bench }

function judgePlace(place: string, path: string, { name, reads, bench }: Use): void {
  if (isSecretFile(place)) bench.meet('secret-file')
  if (isAnyHidden(place)) bench.meet('hidden-files')
  if (isGitConfig(place)) bench.meet('git-config-file')
  if (reads) return
  if (place === path ? touchesGit(name, path) : isGitInternal(place) && !isGitInternal(path))
    bench.meet('git-internals')
  if (name.startsWith('git ')) return
  if (isRunByItself(place)) bench.meet('runs-by-itself')
  else if (WRITE.has(name) && name !== 'mkdir' && isToldLater(place)) bench.meet('told-later')
}

/** Options are not paths, but may contain one. */
const placesOf = (path: string, bench: Bench): readonly string[] =>
  path.startsWith('-') || /\s/.test(path)
    ? [
        path,
        ...candidates(path)
          .slice(1)
          .flatMap((inner) => bench.findings.folders.placesOf(inner)),
      ]
    : candidates(path).flatMap((inner) => bench.findings.folders.placesOf(inner))

/** Git itself may be told where its folder is. */
const touchesGit = (name: string, path: string) =>
  isGitInternal(path) && (!name.startsWith('git ') || /\.git\/./.test(path))

/** The words that may be files: without the texts and patterns that some commands take. */
function pathsOf({ name, args }: Call): readonly string[] {
  switch (name) {
    case 'grep':
    case 'egrep':
    case 'fgrep':
    case 'rg':
    case 'sed':
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'jq':
    case 'yq':
      return withoutText(name, args)
    case 'tr':
      return []
    case 'node':
      // Words other than code belong to the program, or are passed to it.
      return args.filter((arg) => arg.startsWith('--env-file') || /^[\w./~@-]+$/.test(arg))
    case 'curl':
    case 'wget':
      return args.filter((arg) => !/^https?:/.test(arg))
    default:
      return name.startsWith('git ') ? withoutMessages(args) : args
  }
}

const TEXT_LETTERS: Readonly<Record<string, string>> = {
  awk: 'Fv',
  gawk: 'Fv',
  mawk: 'Fv',
  jq: 'L',
  sed: 'l',
  grep: 'mABC',
  rg: 'mABCgtT',
}

/** Without the pattern or program, which is the first operand unless an option gives it. */
function withoutText(name: string, args: readonly string[]): string[] {
  const letters = TEXT_LETTERS[name] ?? 'mABC'
  const isAwk = /awk$/.test(name)
  const byOption = has(args, isAwk ? 'f' : 'ef', '--regexp', '--expression', '--file', '--from-file')
  const texts = isAwk ? [] : valuesOf(args, 'e', '--regexp', '--expression')
  const files = args.filter((arg) => !texts.includes(arg))
  if (byOption) return files
  const at = firstOperand(files, letters, '--arg', '--argjson', '--glob', '--type')
  return files.filter((_, i) => i !== at)
}

function withoutMessages(args: readonly string[]): string[] {
  const texts = [...valuesOf(args, 'mSG', '--message', '--grep', '--author', '--format', '--pretty', '--trailer')]
  return args.filter(
    (arg) => !texts.includes(arg) && !/^--(grep|format|pretty|message)=/.test(arg) && !/^-m./.test(arg),
  )
}
