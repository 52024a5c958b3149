// Facts about a script beyond the words of single commands: about files, variables, and code in other languages. Like
// the rules for commands, each has a level and a sentence that users read.

type Row = { readonly risk: 'low' | 'medium' | 'high'; readonly about: string; readonly says: string }

export const FACTS = {
  'git-internals': {
    risk: 'high',
    about: 'any command',
    says: 'changes how git behaves: its hooks, or files inside `.git`',
  },
  'git-setting': {
    risk: 'high',
    about: 'git',
    says: 'makes git run something: an alias with `!`, hooks from elsewhere, a pager, an editor, a helper for credentials, or its variables such as `GIT_SSH_COMMAND`, unless that something is known and low',
  },
  'secret-file': {
    risk: 'high',
    about: 'any command',
    says: 'reads, writes or sends a file that is named like one with secrets; commands that only show or test names may name it',
  },
  'secret-variable': {
    risk: 'high',
    about: 'any command',
    says: 'uses a variable that is one of your secrets or is named like one',
  },
  'all-variables': { risk: 'high', about: 'any command', says: 'shows all variables, secrets among them' },
  'runs-made-text': {
    risk: 'high',
    about: 'shells and interpreters',
    says: 'runs a text that was fetched or made on the way: `… | sh`, `bash <(…)`, `eval "$x"`',
  },
  'deletes-folder': {
    risk: 'high',
    about: 'rm, JavaScript',
    says: 'deletes a folder with all that is in it',
  },
  'deletes-found': {
    risk: 'high',
    about: 'find, xargs, parallel',
    says: 'deletes or empties whatever a search finds or a list names',
  },
  'changes-found': {
    risk: 'high',
    about: 'find, xargs',
    says: 'changes who may do what with whatever a search finds',
  },
  'too-much': {
    risk: 'high',
    about: 'any script',
    says: 'is too large, too deeply nested or too complex to be judged',
  },
  'hidden-characters': {
    risk: 'high',
    about: 'any script',
    says: 'holds characters that cannot be seen or that turn the direction of writing, so that a reader sees another command than the one that runs',
  },
  'runs-by-itself': {
    risk: 'high',
    about: 'any command',
    says: 'writes a script that the service runs by itself: `.bellwether/setup.sh` or `pre-commit.sh`, and those in `.openhands`',
  },
  'discards-work': { risk: 'high', about: 'git checkout', says: 'discards uncommitted work of a file' },
  'destroys-device': { risk: 'high', about: 'any command', says: 'writes to a disk as a whole' },
  'js-processes': { risk: 'high', about: 'JavaScript', says: 'starts other programs' },
  'sends-output': {
    risk: 'high',
    about: 'any command',
    says: 'sends a file or the output of another command to the network',
  },
  'unknown-command': {
    risk: 'medium',
    about: 'any command',
    says: 'its name is not known before it runs (`$x`, `$(…)`, a pattern), or no rule knows it',
  },
  'unknown-code': {
    risk: 'medium',
    about: 'shells and interpreters',
    says: 'runs code that is not in the command: a script file, `source x`, `sh -c "$x"`, a program in a language that is not read here',
  },
  'js-unknown': {
    risk: 'medium',
    about: 'JavaScript',
    says: 'runs made text, loads what is not known, or reaches files or the process by a computed name',
  },
  'js-network': { risk: 'medium', about: 'JavaScript', says: 'talks to the network' },
  'git-config-file': { risk: 'medium', about: 'any command', says: "reads git's settings, which may hold a token" },
  'hidden-files': { risk: 'medium', about: 'any command', says: 'reads all files whose names begin with a dot: `.*`' },
  'indirect-variable': {
    risk: 'medium',
    about: 'any command',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell, not a template
    says: 'reads a variable whose name is computed (`${!x}`), or expands a text as a prompt (`${x@P}`)',
  },
  'loads-code': {
    risk: 'medium',
    about: 'any command',
    says: 'sets a variable by which programs load other code or find other programs: `BASH_ENV`, `LD_PRELOAD`, something in front of `PATH`',
  },
  'network-device': { risk: 'medium', about: 'redirections', says: 'opens a connection: `/dev/tcp/…`' },
  'empties-file': {
    risk: 'medium',
    about: 'redirections, tee, cp, dd, sed -i, awk, JavaScript',
    says: 'surely empties a file: `> x`, `: > x`, `sort x > x`',
  },
  'deletes-files': { risk: 'medium', about: 'rm, find, JavaScript', says: 'deletes files' },
  'changes-modes': { risk: 'medium', about: 'JavaScript', says: 'changes who may do what' },
  'startup-file': {
    risk: 'medium',
    about: 'any command',
    says: 'writes a file that a shell or a scheduler runs later: `.bashrc`, cron',
  },
  'told-later': {
    risk: 'medium',
    about: 'any command',
    says: 'writes what agents are told in conversations to come: `.bellwether/microagents` and `.openhands`',
  },
  'outside-file': { risk: 'medium', about: 'any command', says: 'writes outside of the workspace and /tmp' },
  'not-parsed': { risk: 'medium', about: 'any script', says: 'cannot be parsed' },
} as const satisfies Readonly<Record<string, Row>>

export type Fact = keyof typeof FACTS
