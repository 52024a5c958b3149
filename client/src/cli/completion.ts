// Completion for three shells, generated from the definitions of the commands.

import { type Command, EXIT, type Flags, none, requiredArgument, UsageError } from './command.ts'

const SHELLS: Readonly<Record<string, (commands: readonly Command[], global: Flags) => string>> = {
  bash: (commands, global) => `_bellwether() {
  local cur=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(' ')} --help --version"
  else case $command in
${commands.map((one) => `    ${one.name}) words="${[...(one.words ?? []), ...namesOf(one.flags), ...namesOf(global)].join(' ')}" ;;`).join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -F _bellwether bellwether
`,
  zsh: (commands, global) => `#compdef bellwether
_bellwether() {
  local -a names
  names=(
${commands.map(({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe 'command' names; return; fi
  case $words[2] in
${commands.map((one) => `    ${one.name}) compadd -- ${[...(one.words ?? []), ...namesOf(one.flags), ...namesOf(global)].join(' ')}; _files ;;`).join('\n')}
  esac
}
compdef _bellwether bellwether
`,
  fish: (commands, global) => `complete -c bellwether -n __fish_use_subcommand -f
${commands
  .flatMap((one) => [
    `complete -c bellwether -n __fish_use_subcommand -a ${one.name} -d '${one.summary.replaceAll("'", "\\'")}'`,
    ...(one.words === undefined
      ? []
      : [`complete -c bellwether -n '__fish_seen_subcommand_from ${one.name}' -a '${one.words.join(' ')}'`]),
    ...fishFlags(one.flags, `-n '__fish_seen_subcommand_from ${one.name}' `),
  ])
  .join('\n')}
${fishFlags(global, '').join('\n')}
`,
}

const namesOf = (flags: Flags): string[] => Object.keys(flags).map((name) => `--${name}`)

function fishFlags(flags: Flags, where: string): string[] {
  return Object.entries(flags).map(([name, { type, short, words }]) => {
    const form = `-l ${name}${short === undefined ? '' : ` -s ${short}`}${type === 'string' ? ' -r' : ''}`
    return `complete -c bellwether ${where}${form} -d '${words.replaceAll("'", "\\'")}'`
  })
}

export function completionOf(commands: () => readonly Command[], global: Flags): Command {
  return {
    name: 'completion',
    summary: 'print the completion of a shell',
    usage: 'bash|zsh|fish',
    words: Object.keys(SHELLS),
    flags: {},
    examples: [
      'eval "$(bellwether completion bash)"',
      'eval "$(bellwether completion zsh)"',
      'bellwether completion fish > ~/.config/fish/completions/bellwether.fish',
    ],
    async run({ args, out }) {
      none(args, 1)
      const make = SHELLS[requiredArgument(args, 0, 'the shell (bash, zsh or fish)')]
      if (make === undefined) throw new UsageError(`there is completion for bash, zsh and fish, not for "${args[0]}"`)
      if (out.isJson) throw new UsageError('completion has no --json')
      out.piece(make(commands(), global))
      return EXIT.done
    },
  }
}
