// What the comparison leaves out, and what differs and why that is right. An entry that is equal must leave the second list.

const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'changes the machine': ids('processes', 'python3-m-pip pip-install uv poetry gem bundle apt-get apt brew sudo'),
  'asks other machines, or services of this one': [
    ...ids('processes', 'npm-install npm-ci npx-tsc npx-eslint npx-vitest yarn yarn-test pnpm bun deno cargo-build'),
    ...ids(
      'processes',
      'cargo-test go-build go-test mvn gradle docker-ps docker-build docker-compose kubectl systemctl',
    ),
    ...ids('processes', 'ssh scp psql mysql redis-cli gh'),
  ],
  'waits for a person at the terminal, on both sides, or never ends': [
    ...ids('processes', 'vim nano man watch python3-m-http'),
    ...ids('reading', 'less more'),
    ...ids('archives', 'gz-zutils patch-p0 patch-dry patch-already patch-silent patch-missing patch-exists patch-p2'),
    ...ids('archives', 'patch-back-names'),
  ],
  'answers differently each time on the machine itself: chance, times, names of logs, the order of two writers': [
    ...ids('processes', 'python3-m-pytest python3-m-venv pytest npm-test npm-ls openssl'),
    ...ids('stranger-commands', 'permissions-write permissions-search xargs-misuse'),
    ...ids('machine', 'http'),
  ],
}

export const NOT_RUN: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LEFT_OUT).flatMap(([why, all]) => all.map((id) => [id, why])),
)

const DEEPER = 'a session reads its commands from a pipe with `.`, so each line of a trace has one more plus sign'

export const REVIEWED: Readonly<Record<string, string>> = {
  'descriptors/copy-b7': DEEPER,
  'descriptors/order-traced': DEEPER,
  'language/set-x': DEEPER,
  'semantics/trace-letters': DEEPER,
  'semantics/truth-traced-return': DEEPER,
  'language/random-vars': 'the same: BASH_SOURCE is the pipe, where a command of `bash -c` has none',
  'language/trap-int': 'an interactive bash ends the line that an interrupt broke',
  'machine/signal':
    'a bash without a person says "Terminated" of a child that a signal ended, an interactive one in a subshell does not',
  'semantics/eval-discards-2': 'an interactive bash names itself in its messages, and not the file of the function',
  'navigation/ls-la': 'the folder of the copy is closed to other users, and more folders stand beside it',
}

function ids(theme: string, names: string): string[] {
  return names.split(' ').map((name) => `${theme}/${name}`)
}
