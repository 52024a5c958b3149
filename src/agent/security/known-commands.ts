// Commands that cost nothing unless a rule says otherwise. A command that is neither here nor in a rule is one of which
// nothing is known.

import type { Call } from './call.ts'
import { holdsOutput } from './marks.ts'

const BUILTINS = `: . [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown
echo enable eval exec exit export false fc fg getopts hash help history jobs let local logout mapfile popd printf pushd pwd
read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset
wait`

const FILES = `ls dir vdir cat tac nl head tail less more most bat stat file du df tree basename dirname realpath readlink
pwd mkdir touch cp mv ln tar gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd zip unzip zcat bzcat xzcat zless zgrep zipinfo
compress uncompress patch diff diff3 sdiff cmp comm dd install mktemp mkfifo split csplit sync pathchk namei lsblk findmnt
fd fdfind locate whereis which cpio ar rename`

const TEXT = `grep egrep fgrep rg ag ack awk gawk mawk nawk sed sort uniq wc cut paste join tr rev fold fmt pr column expand
unexpand iconv od xxd hexdump hd strings base32 base64 basenc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum
cksum sum jq yq xq gron csvcut csvlook xmllint tidy html-to-markdown pandoc shuf tsort seq factor numfmt bc dc expr nproc
printf echo yes tee look spell aspell wdiff colordiff delta ptx dos2unix unix2dos fx glow`

const SYSTEM = `date cal ncal uptime whoami id groups users who w last hostname uname arch tty stty clear reset tput sleep
time true false ps top htop free vmstat iostat pgrep pidof lsof man info apropos whatis getconf locale locale-gen env
printenv test nohup getent logname dircolors cowsay figlet banner fortune tldr`

const DEVELOPMENT = `node tsc eslint prettier biome stylelint tslint oxlint shellcheck shfmt markdownlint cloc tokei scc
hyperfine-version ctags etags black ruff flake8 mypy pylint isort gofmt rustfmt clang-format nm objdump readelf size ldd
editorconfig-checker ajv jsonlint yamllint sqlite3-version git`

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
 * Test runners, checks and questions of daily use, by the words behind their names. As with scripts of packages, owners
 * who are asked each time stop reading.
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

/** Words that make such a command run something else, or that are not known. */
const RUNS_MORE =
  /(^|\s)-{1,2}(exec|toolexec|vettool|config|resolver|setupFiles|globalSetup|require|r|c|p|fix|host|H)([\s=]|$)/

export function isDaily({ name, args, before = [] }: Pick<Call, 'name' | 'args' | 'before'>): boolean {
  const text = args.join(' ')
  if (!Object.hasOwn(DAILY, name) || args.some(holdsOutput) || before.length > 0) return false
  return DAILY[name]?.test(text) === true && !RUNS_MORE.test(text)
}

const words = (text: string) => text.split(/\s+/)

export const KNOWN_COMMANDS: ReadonlySet<string> = new Set([
  ...words(BUILTINS),
  ...words(FILES),
  ...words(TEXT),
  ...words(SYSTEM),
  ...words(DEVELOPMENT),
  ...words(GIT).map((name) => `git ${name}`),
  ...['npm', 'pnpm', 'yarn'].flatMap((manager) => words(PACKAGES).map((name) => `${manager} ${name}`)),
  ...['git', 'npm', 'pnpm'],
])
