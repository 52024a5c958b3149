// The script that the session's bash reads when it starts. All information comes from the prompt: it prints a mark,
// which the runner removes from the output, with the exit status, the folder and the interpreter. A mark starts with a
// nonce, so that a file containing a mark does not end a command. Settings left by a command (no echo, `set -eux`, an
// odd IFS, a raw terminal, redirected output) must not affect the prompt.

export type ShellPaths = {
  /** A pipe with the script of the next command. */
  readonly call: string
  /**
   * Written when a shell ends, read by the next one and then emptied: folder, variables, functions. In memory, never on
   * a disk.
   */
  readonly state: string
  readonly rc: string
}

/**
 * The terminal's first process: starts an interactive shell, and a new one each time it ends. A separate mark reports
 * the exit status and whether the state was saved, because `exec` and `kill -9` run no trap.
 */
export function loopSource(
  nonce: string,
  paths: ShellPaths,
  limits: { processes: number; fileBytes: number } | null,
): string {
  const ulimit = limits === null ? '' : `ulimit -c 0 -u ${limits.processes} -f ${Math.ceil(limits.fileBytes / 1024)}; `
  // Itself an interactive shell, which takes the terminal back from a killed one; its messages are discarded.
  const shell = `bash --noediting --noprofile --rcfile ${quoted(paths.rc)} -i 2>&9 9>&-`
  const saved = `__bw_s=$?; [[ -s ${quoted(paths.state)} ]]`
  const end = `${saved}; printf '\\036${nonce}E%s,%s\\037' "$__bw_s" "$?" >/dev/tty || exit`
  return `${ulimit}exec 9>&2 2>/dev/null; trap : INT QUIT TSTP; while :; do ${shell}; ${end}; done`
}

export function rcSource(nonce: string, paths: ShellPaths): string {
  const state = quoted(paths.state)
  return `unset HISTFILE PROMPT_COMMAND
set +o history +H
__bw_user='\\u'; __bw_host='\\H'; __bw_user=\${__bw_user@P}; __bw_host=\${__bw_host@P}
__bw_prompt() {
  local __bw_rc=$? - IFS=$' \\t\\n' __bw_d __bw_py= __bw_cwd
  set +xeuvfn
  command stty -echo -onlcr icanon isig -ixon opost < /dev/tty 2> /dev/null
  PS1= PS2=
  while read -r -t 0; do read -r __bw_d; done < /dev/tty
  for __bw_d in \${PATH//:/ }; do
    if [[ -x $__bw_d/python3 ]]; then __bw_py=$__bw_d/python3; break; fi
    if [[ -x $__bw_d/python && -z $__bw_py ]]; then __bw_py=$__bw_d/python; fi
  done
  __bw_cwd=\${PWD//%/%25}
  __bw_cwd=\${__bw_cwd//$'\\035'/%1D}; __bw_cwd=\${__bw_cwd//$'\\036'/%1E}; __bw_cwd=\${__bw_cwd//$'\\037'/%1F}
  printf '\\036${nonce}P%s\\035%s\\035%s\\035%s\\035%s\\035%s\\037' "$__bw_rc" "$BASHPID" "$__bw_user" "$__bw_host" "$__bw_py" "$__bw_cwd" > /dev/tty
}
__bw_save() {
  local -
  set +xeuv
  # A terminal that is gone has no next shell.
  { : > /dev/tty; } 2> /dev/null || return 0
  # Variables may be secrets: for nobody else's eyes.
  (umask 077; { printf 'cd -- %q\\n' "$PWD"; declare -px; declare -f; alias -p; } >| ${state}) 2> /dev/null
}
if [[ -s ${state} ]]; then . ${state} 2> /dev/null; : >| ${state}; fi
trap __bw_save EXIT
PROMPT_COMMAND='{ __bw_prompt; } 2> /dev/null'
PS1= PS2=
`
}

/**
 * The typed line: short for any command, because a terminal cuts a line at 4,095 bytes. An incomplete line in the
 * terminal is erased first; complete unread lines were discarded at the prompt.
 */
export function typedLine(paths: ShellPaths): string {
  return `\x15. ${quoted(paths.call)}\n`
}

/**
 * The contents of the pipe: a mark that the script starts, the variables, the folder, then the command as written. `$?`
 * is the status of the previous command. A function in a list sets a status without a new process and without the ERR
 * trap.
 */
export function callSource(
  nonce: string,
  call: { text: string; env: Readonly<Record<string, string>>; cwd: string | null },
  statusBefore = 0,
): string {
  const names = Object.entries(call.env).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  const exports = names.map(([name, value]) => `builtin export ${name}=${quoted(value)}; `).join('')
  const folder = call.cwd === null ? '' : `builtin cd -- ${quoted(call.cwd)}; `
  const status = statusBefore === 0 ? '' : `; function __bw_is { builtin return ${statusBefore}; }; __bw_is && :`
  return `${exports}${folder}builtin printf '\\036${nonce}S\\037' > /dev/tty${status}\n${call.text}\n`
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
