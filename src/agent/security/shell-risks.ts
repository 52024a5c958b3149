// The risk of every command of our own shell. A command without one is a type error.

import type { OwnCommand, workspaceCommands } from '../../kits/shell/index.ts'
import type { Call } from './call.ts'
import { holdsOutput } from './words.ts'

type WorkspaceCommand = ReturnType<typeof workspaceCommands>[number]['name']

/**
 * `free`: no risk, unless a rule says otherwise. `judged`: the risk of its rules, or of what it runs. `strange`: the
 * risk of an unknown command.
 */
type CommandRisk = 'free' | 'judged' | 'strange'

export const SHELL_RISKS: Readonly<Record<OwnCommand | WorkspaceCommand | 'git' | 'js' | 'node', CommandRisk>> = {
  arch: 'free',
  awk: 'free',
  b2sum: 'free',
  base32: 'free',
  base64: 'free',
  basename: 'free',
  basenc: 'free',
  bash: 'judged',
  bc: 'free',
  cat: 'free',
  chgrp: 'judged',
  chmod: 'judged',
  chown: 'judged',
  cksum: 'free',
  clear: 'free',
  cmp: 'free',
  column: 'free',
  comm: 'free',
  cp: 'free',
  csplit: 'free',
  curl: 'judged',
  cut: 'free',
  date: 'free',
  dd: 'free',
  df: 'free',
  diff: 'free',
  diff3: 'free',
  dirname: 'free',
  dos2unix: 'free',
  du: 'free',
  echo: 'free',
  egrep: 'free',
  env: 'free',
  envsubst: 'strange',
  expand: 'free',
  expr: 'free',
  factor: 'free',
  fgrep: 'free',
  find: 'judged',
  file: 'free',
  flock: 'judged',
  fmt: 'free',
  fold: 'free',
  getopt: 'strange',
  git: 'free',
  grep: 'free',
  groups: 'free',
  gunzip: 'free',
  gzip: 'free',
  hd: 'free',
  head: 'free',
  hexdump: 'free',
  hostname: 'free',
  iconv: 'free',
  id: 'free',
  install: 'free',
  jobs: 'free',
  join: 'free',
  jq: 'free',
  js: 'strange',
  kill: 'judged',
  less: 'free',
  link: 'strange',
  ln: 'free',
  logname: 'free',
  look: 'free',
  ls: 'free',
  mawk: 'free',
  md5sum: 'free',
  mkdir: 'free',
  mkfifo: 'free',
  mknod: 'strange',
  mktemp: 'free',
  more: 'free',
  mv: 'free',
  nice: 'judged',
  nl: 'free',
  node: 'free',
  nohup: 'free',
  nproc: 'free',
  numfmt: 'free',
  od: 'free',
  paste: 'free',
  patch: 'free',
  pr: 'free',
  printenv: 'free',
  printf: 'free',
  readlink: 'free',
  realpath: 'free',
  rev: 'free',
  rg: 'free',
  rm: 'judged',
  rmdir: 'judged',
  sdiff: 'free',
  sed: 'free',
  seq: 'free',
  setsid: 'judged',
  sh: 'judged',
  sha1sum: 'free',
  sha224sum: 'free',
  sha256sum: 'free',
  sha384sum: 'free',
  sha512sum: 'free',
  shuf: 'free',
  sleep: 'free',
  sort: 'free',
  split: 'free',
  stat: 'free',
  stdbuf: 'judged',
  sum: 'free',
  sync: 'free',
  tac: 'free',
  tail: 'free',
  tar: 'free',
  tee: 'free',
  timeout: 'judged',
  touch: 'free',
  tput: 'free',
  tr: 'free',
  tree: 'free',
  truncate: 'judged',
  tsort: 'free',
  tty: 'free',
  uname: 'free',
  unexpand: 'free',
  uniq: 'free',
  unix2dos: 'free',
  unlink: 'judged',
  unzip: 'free',
  users: 'free',
  wc: 'free',
  who: 'free',
  whoami: 'free',
  xargs: 'judged',
  xxd: 'free',
  yes: 'free',
  zcat: 'free',
  zcmp: 'strange',
  zdiff: 'strange',
  zegrep: 'strange',
  zfgrep: 'strange',
  zgrep: 'free',
  zip: 'free',
  zless: 'free',
  zmore: 'strange',
}

const FREE_COMMANDS: readonly string[] = Object.entries(SHELL_RISKS).flatMap(([name, risk]) =>
  risk === 'free' ? [name] : [],
)

// Commands without risk unless a rule says otherwise: those of our own shell (`shell-risks.ts`), and those of a
// machine, which are listed here. A command that is neither listed nor in a rule is unknown.

const BUILTINS = `: . [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare
dirs disown enable eval exec exit export false fc fg getopts hash help history let local logout mapfile popd
pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset
ulimit umask unalias unset wait`

const FILES = `dir vdir most bat file pwd bzip2 bunzip2 xz unxz zstd unzstd bzcat xzcat zipinfo compress uncompress
pathchk namei lsblk findmnt fd fdfind locate whereis which cpio ar rename`

const TEXT = `ag ack gawk nawk strings yq xq gron csvcut csvlook xmllint tidy html-to-markdown pandoc dc spell
aspell wdiff colordiff delta ptx fx glow`

const SYSTEM = `cal ncal uptime whoami w last hostname stty clear reset time true false ps top htop free vmstat
iostat pgrep pidof lsof man info apropos whatis getconf locale locale-gen printenv test getent dircolors
cowsay figlet banner fortune tldr`

const DEVELOPMENT = `tsc eslint prettier biome stylelint tslint oxlint shellcheck shfmt markdownlint cloc tokei scc
hyperfine-version ctags etags black ruff flake8 mypy pylint isort gofmt rustfmt clang-format nm objdump
readelf size ldd editorconfig-checker ajv jsonlint yamllint sqlite3-version`

const GIT = `add am annotate apply bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format
checkout cherry cherry-pick commit commit-tree count-objects describe diff diff-files diff-index diff-tree fast-export
for-each-ref format-patch fsck get-tar-commit-id grep hash-object help init interpret-trailers log ls-files ls-tree mailinfo
merge merge-base merge-file merge-tree mktag mktree mv name-rev notes pack-objects range-diff read-tree reflog remote
repack replace rerere reset restore rev-list rev-parse revert shortlog show show-branch show-ref sparse-checkout stage stash
status stripspace submodule switch symbolic-ref tag update-index update-ref var verify-commit verify-pack verify-tag version
whatchanged worktree write-tree gc archive`

const PACKAGES = `list view outdated search explain ping version help root prefix bin docs repo bugs audit fund doctor owner
whoami query pack test run config get`

/**
 * Common test runners, checks and queries, by the words after their names. As with package scripts, owners who are
 * asked each time stop reading.
 */
const DAILY: Readonly<Record<string, RegExp>> = {
  vitest: /^(run|related|list|bench|--\S+|[\w./-]+)?( .*)?$/,
  jest: /.*/,
  mocha: /.*/,
  ava: /.*/,
  playwright: /^test( .*)?$/,
  pytest: /.*/,
  'py.test': /.*/,
  tox: /.*/,
  rspec: /.*/,
  phpunit: /.*/,
  go: /^(test|vet|build|fmt|list|version|env \w+|doc|mod (graph|verify|why))( .*)?$/,
  'cargo test': /.*/,
  'cargo check': /.*/,
  'cargo fmt': /.*/,
  'cargo clippy': /.*/,
  'cargo build': /.*/,
  'cargo tree': /.*/,
  mvn: /^(-\S+ )*(test|compile|verify|package)( .*)?$/,
  mvnw: /^(-\S+ )*(test|compile|verify|package)( .*)?$/,
  gradle: /^(-\S+ )*(test|check|build|tasks)( .*)?$/,
  dotnet: /^(test|build|format|--info|--version)( .*)?$/,
  bundle: /^(exec (rspec|rubocop|rake (test|spec))|list|show|check)( .*)?$/,
  rubocop: /.*/,
  'golangci-lint': /^run( .*)?$/,
  pip: /^(list|show|freeze|check|--version|-V)( .*)?$/,
  pip3: /^(list|show|freeze|check|--version|-V)( .*)?$/,
  docker: /^(ps|images|version|info|stats --no-stream)( .*)?$/,
  podman: /^(ps|images|version|info)( .*)?$/,
}

/** Words that make such a command run something else, or that are unknown. */
const RUNS_MORE =
  /(^|\s)-{1,2}(exec|toolexec|vettool|config|resolver|setupFiles|globalSetup|require|r|c|p|fix|host|H)([\s=]|$)/

export function isDaily({ name, args, before = [] }: Pick<Call, 'name' | 'args' | 'before'>): boolean {
  const text = args.join(' ')
  if (!Object.hasOwn(DAILY, name) || args.some(holdsOutput) || before.length > 0) return false
  return DAILY[name]?.test(text) === true && !RUNS_MORE.test(text)
}

const words = (text: string) => text.split(/\s+/)

export const KNOWN_COMMANDS: ReadonlySet<string> = new Set([
  ...FREE_COMMANDS,
  ...words(BUILTINS),
  ...words(FILES),
  ...words(TEXT),
  ...words(SYSTEM),
  ...words(DEVELOPMENT),
  ...words(GIT).map((name) => `git ${name}`),
  ...['npm', 'pnpm', 'yarn'].flatMap((manager) => words(PACKAGES).map((name) => `${manager} ${name}`)),
  ...['npm', 'pnpm'],
])
