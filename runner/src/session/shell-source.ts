// What the session's bash reads when it starts. The prompt is where everything is learned: it prints a mark that the runner
// strips from the output, with the exit status, the folder and the interpreter. A mark begins with a nonce, so that a file
// that happens to hold one does not end a command. What a command leaves behind (no echo, `set -eux`, an odd IFS, a raw
// terminal, a redirected output) must not reach the prompt.

export type ShellPaths = {
  /** A pipe with the script of the next command. */
  readonly call: string
  /** Written when a shell ends, read by the next one and empty afterwards: folder, variables, functions. In memory, never on a disk. */
  readonly state: string
  readonly rc: string
}

/**
 * The terminal's first process: an interactive shell, and a new one each time it ends. The status it ended with, and whether it
 * saved anything, is told by a mark of its own, because `exec` and `kill -9` run no trap.
 */
export function loopSource(
  nonce: string,
  paths: ShellPaths,
  limits: { processes: number; fileBytes: number } | null,
): string {
  const ulimit = limits === null ? '' : `ulimit -c 0 -u ${limits.processes} -f ${Math.ceil(limits.fileBytes / 1024)}; `
  // Run as an interactive shell itself, which takes the terminal back from one that was killed; its remarks are for nobody.
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
 * The line that is typed: short, whatever the command is; a line of a terminal is cut at 4,095 bytes. What stands half written
 * on the line is erased first; whole lines that nobody read were thrown away at the prompt.
 */
export function typedLine(paths: ShellPaths): string {
  return `\x15. ${quoted(paths.call)}\n`
}

/**
 * What the pipe holds: a mark that the script begins, the variables, the folder, then the command as it was written. It finds
 * in `$?` what the command before it left. A function in a list gives a status without a new process, and without the ERR trap.
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
