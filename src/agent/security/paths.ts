// What a file's path alone tells about its contents.

import { isGlob, MARK, mayBecome } from './words.ts'

export const HOME = '/home/user'

/** Files that contain keys and passwords, by name. A sample without values is not one. */
const SECRET_NAME =
  /^(\.env(rc)?|\.env\.(?!(example|sample|template|dist|defaults?|schema)$)[\w.-]+|(prod|production|staging|local|dev|development|live)\.env|[._]netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.my\.cnf|\.htpasswd|\.vault-token|\.dev\.vars(\.[\w-]+)?|(api[-_]?|access[-_]?|auth[-_]?)?token\.(txt|json|env)|tokens\.txt|\.(token|tokens|passwd|password|secrets?|yarnrc\.yml|condarc|s3cfg|boto|terraformrc)|api[-_]?keys?(\.\w+)?|passwords?(\.(json|ya?ml|toml|ini|txt|csv|env|kdbx))?|[\w.-]*\.tfstate(\.backup)?|[\w.-]*\.tfvars(\.json)?|\.(bash|zsh|sh|psql|mysql|python|node_repl|rediscli)_history|wp-config\.php|id_(rsa|dsa|ecdsa|ed25519)|credentials?(\.(json|ya?ml|toml|ini|csv|txt|db))?|secrets?\.(json|ya?ml|toml|ini|txt|env)|service[-_]account[\w-]*\.json|[\w.-]+\.(pem|p12|pfx|key|jks|keystore|kdbx|ppk))$/i
const SECRET_PLACE =
  /(^|\/)(\.ssh\/(?!known_hosts$|config$|[\w.-]+\.pub$).|\.aws\/.|\.gnupg\/.|\.azure\/.|\.kube\/config$|\.docker\/config\.json$|\.config\/(gh|gcloud)\/.)|^\/etc\/(shadow|gshadow|sudoers)\b|^\/proc\/[^/]*\/environ$/i

/** Sample names against which patterns for file names are matched. */
const SECRET_SAMPLES = [
  ...['.env', '.env.local', '.env.production', '.envrc', '.netrc', '.npmrc', '.pypirc', '.git-credentials', '.pgpass'],
  ...['.dev.vars', 'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'credentials', 'credentials.json', 'secrets.yml'],
  ...['secrets.json', 'server.key', 'server.pem'],
]
/** A pattern that restricts the name no more than this is not a search for a secret: `*.json`. */
const COMMON_ENDING = /^[\uE002\uE003]*\.?(json|ya?ml|toml|txt|ini|csv|e|s|l|n|r|[a-z])?[\uE002\uE003]*$/i

export function isSecretFile(path: string): boolean {
  return candidates(path).some((candidate) => {
    const name = lastPart(candidate)
    return SECRET_NAME.test(name) || SECRET_PLACE.test(unmarked(candidate)) || isSecretPattern(name)
  })
}

function isSecretPattern(name: string): boolean {
  if (!isGlob(name)) return false
  const says = name.startsWith('.') ? name.replace(/[\uE002\uE003.]/g, '') !== '' : !COMMON_ENDING.test(name)
  return says && SECRET_SAMPLES.some((sample) => mayBecome(name, sample))
}

/** Matches all hidden files, which include those with secrets. */
export function isAnyHidden(path: string): boolean {
  return isGlob(path) && /^\.[\uE002\uE003]+$/.test(lastPart(path))
}

const HOOK =
  /(^|\/)hooks\/(pre|post)-[\w-]+$|(^|\/)hooks\/(commit-msg|prepare-commit-msg|update|fsmonitor-watchman|reference-transaction)$|(^|\/)\.(husky|githooks)(\/|$)/i

/** Git keeps its hooks and its data there. */
export function isGitInternal(path: string): boolean {
  return candidates(path).some(
    (candidate) =>
      candidate.split('/').some((part) => /^\.git$/i.test(part) || mayBecome(part, '.git')) || HOOK.test(candidate),
  )
}

/** Scripts of a working copy that the service runs automatically: after a clone, and before each commit. */
const RUN_BY_ITSELF = /(^|\/)\.(bellwether|openhands)\/(setup|pre-commit)\.sh$/i
/** Files that agents read as instructions in later conversations. */
const TOLD_LATER =
  /(^|\/)\.(bellwether|openhands)(\/microagents(\/.*)?|_instructions)?$|(^|\/)\.openhands_instructions$/i

export const isRunByItself = (path: string): boolean =>
  candidates(path).some((candidate) => RUN_BY_ITSELF.test(unmarked(candidate)) || mayBeRunByItself(candidate))

function mayBeRunByItself(path: string): boolean {
  return isGlob(path) && OWN_SCRIPTS.some((script) => mayBecome(path.replace(/^(\.\/)+/, ''), script))
}

const OWN_SCRIPTS = ['.bellwether', '.openhands'].flatMap((folder) => [`${folder}/setup.sh`, `${folder}/pre-commit.sh`])

export const isToldLater = (path: string): boolean => TOLD_LATER.test(path)

/** Git's settings, which may hold an address with a token. */
export const isGitConfig = (path: string): boolean => /(^|\/)\.git\/config$|(^|[/~])\.gitconfig$/i.test(path)

/** Files that shells and schedulers run later. */
const STARTUP =
  /(^|\/)\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|inputrc|xinitrc|xprofile|vimrc|exrc|emacs|gitconfig|gdbinit)$|^\/?etc\/(profile|bash\.bashrc|cron|rc\.local|init\.d)|(^|\/)\.config\/(autostart|systemd|fish|git)\/|\/var\/spool\/cron/i

export const isStartupFile = (path: string): boolean => STARTUP.test(path)

/** The workspace, the folders for temporary files, and devices that store nothing. */
const ORDINARY = /^\/(workspace|tmp|var\/tmp)(\/|$)|^\/dev\/(null|zero|full|u?random|tty|stdin|stdout|stderr|fd\/\d+)$/

export function isOutside(path: string): boolean {
  if (!path.startsWith('/')) return false
  return !ORDINARY.test(withoutDots(path))
}

/** Removes `.` and `..` as far as the names before them are known. */
function withoutDots(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export const isNetworkDevice = (path: string): boolean => /^\/dev\/(tcp|udp)\//.test(path)
export const isDevice = (path: string): boolean => path.startsWith('/dev/')

/** The word, and its parts after `=`, `@`, `:`, `<` or a short option: `--file=x`, `-d@x`, `HEAD:x`, `-Tx`. */
export function candidates(word: string): string[] {
  if (word.length > MAX_PATH) return []
  const found = [word]
  for (const match of word.matchAll(/[=@:<>,]/g)) found.push(word.slice(match.index + 1))
  if (/^-[A-Za-z]./.test(word)) found.push(word.slice(2))
  return found.slice(0, MAX_CANDIDATES)
}

const MAX_PATH = 4096
const MAX_CANDIDATES = 16

const lastPart = (path: string) => path.slice(path.replace(/\/+$/, '').lastIndexOf('/') + 1).replace(/\/+$/, '')
const unmarked = (path: string) => path.replaceAll(MARK.star, 'x').replaceAll(MARK.one, 'x')
