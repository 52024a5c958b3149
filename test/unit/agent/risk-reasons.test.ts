import { expect, test } from 'vitest'
import { COMMAND_RULES } from '../../../src/agent/security/command-rules.ts'
import { FACTS } from '../../../src/agent/security/facts.ts'
import { ACTION_RULES } from '../../../src/agent/security/judgement.ts'
import { ZH_RISKS } from '../../../src/web/zh-risks.ts'

test('every reason of a risk has a Chinese wording, and no wording is left over from a reason that is gone', () => {
  const reasons = [...COMMAND_RULES, ...Object.values(FACTS), ...ACTION_RULES].filter(({ risk }) => risk !== 'low')
  expect(Object.keys(ZH_RISKS).toSorted()).toEqual([...new Set(reasons.map(({ says }) => says))].toSorted())
})
