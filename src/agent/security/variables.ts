// The variables of a script: which are secret by name, which make programs run something, and which values the script
// assigns to them.

import { TooMuch } from './too-much.ts'

/** A complete word of the name: `GITHUB_TOKEN` and `apiKey`, not `TOKENIZER` and not `MAX_TOKENS`. */
const SECRET_WORD =
  /(^|_|\d)(TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|(API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|DEPLOY|MASTER|SSH|AUTH|ACCOUNT)_?KEYS?)(?=_|\d|$)/
const SECRET_ENDING = /(_PAT|_PASS|_PWD|TOKEN|SECRET|PASSWORD|API_?KEY)$/

export function isSecretName(name: string, secretNames: readonly string[]): boolean {
  if (secretNames.includes(name)) return true
  const spoken = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
  return SECRET_WORD.test(spoken) || SECRET_ENDING.test(spoken)
}

/** Variables whose value git, pagers and shells run as a command. */
export const COMMAND_VARIABLES: ReadonlySet<string> = new Set([
  ...[
    'GIT_EDITOR',
    'GIT_SEQUENCE_EDITOR',
    'GIT_PAGER',
    'GIT_SSH',
    'GIT_SSH_COMMAND',
    'GIT_EXTERNAL_DIFF',
    'GIT_ASKPASS',
  ],
  ...['GIT_PROXY_COMMAND', 'SSH_ASKPASS', 'EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'BROWSER', 'LESSOPEN', 'LESSCLOSE'],
  ...['PROMPT_COMMAND', 'RSYNC_RSH', 'CVS_RSH', 'FCEDIT', 'TAR_OPTIONS', 'npm_config_script_shell'],
])

/** Variables that make programs load settings or code from elsewhere. */
export const LOADING_VARIABLES: ReadonlySet<string> = new Set([
  ...['BASH_ENV', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GIT_EXEC_PATH'],
  ...['GIT_TEMPLATE_DIR', 'GIT_CONFIG', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT'],
  ...['PYTHONSTARTUP', 'NODE_PATH', 'AWKPATH', 'SHELLOPTS', 'BASHOPTS', 'CURL_HOME', 'WGETRC'],
])

/** The interpreter keeps aliases in variables with these names. */
export const COMMAND_ALIAS = 'BASH_ALIAS_'

/** These stored variables are not filled in, so that an addition to them is recognised. */
export const STORED_AS_THEY_ARE: ReadonlySet<string> = new Set(['PATH', 'PWD', 'OLDPWD'])

/** Their text is expanded, including substitutions, when a prompt or a trace is shown. */
export const PROMPT_VARIABLES: ReadonlySet<string> = new Set(['PS0', 'PS1', 'PS2', 'PS3', 'PS4'])

const MAX_VARIABLES = 500
/** The most values of one variable; a loop over more words is too much, unless the further words are numbers. */
const MAX_VALUES = 32
/** Including the one that an earlier script left. */
export const MAX_VARIANTS = MAX_VALUES + 1
const MAX_VALUE_CHARS = 20_000

/** All values that the script assigns to its variables. The order of execution is ignored. */
export class Variables {
  readonly #values = new Map<string, string[]>()
  /** The values that earlier scripts left. */
  readonly #stored = new Map<string, string>()

  store(name: string, value: string): void {
    if (value.length <= MAX_VALUE_CHARS) this.#stored.set(name, value)
  }

  /** Throws `TooMuch` when a relevant value would have to be dropped. */
  add(name: string, value: string): void {
    const values = this.#values.get(name) ?? []
    if (values.includes(value)) return
    const isMore = values.length === 0 ? this.#values.size >= MAX_VARIABLES : values.length >= MAX_VALUES
    if (!isMore && value.length <= MAX_VALUE_CHARS) this.#values.set(name, [...values, value])
    else if (!/^\d*$/.test(value)) throw new TooMuch('values')
  }

  of(name: string): readonly string[] {
    const values = this.#values.get(name) ?? []
    const stored = this.#stored.get(name)
    return stored === undefined || values.includes(stored) ? values : [...values, stored]
  }

  /** The number of variables that the script assigns. */
  get size(): number {
    return this.#values.size
  }
}
