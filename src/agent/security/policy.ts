// The rules as users read them, made from the rows that are applied.

import { COMMAND_RULES } from './command-rules.ts'
import { FACTS } from './facts.ts'
import { ACTION_RULES } from './judgement.ts'

export function builtinPolicy(): string {
  return [
    '# Built-in security rules',
    '',
    'The risk of a shell command is the highest among the rules that anything in it meets, and low when it meets none. The',
    'script is parsed and judged as it would run, through quotes, variables, functions and whatever runs a text. In',
    'confirmation mode an action at or above the chosen risk severity waits for your confirmation; one below it runs at once.',
    '',
    '## High',
    '',
    ...list('high'),
    '',
    '## Medium',
    '',
    ...list('medium'),
    '',
    '## Low',
    '',
    ...list('low'),
    '',
  ].join('\n')
}

function list(wanted: 'low' | 'medium' | 'high'): string[] {
  const rows = [
    ...COMMAND_RULES.map(({ risk, commands, says }) => ({ risk, about: commands.join(', '), says })),
    ...Object.values(FACTS),
    ...ACTION_RULES,
  ]
  const lines = rows.filter(({ risk }) => risk === wanted).map(({ about, says }) => `- ${about}: ${says}`)
  return [...new Set(lines)]
}
