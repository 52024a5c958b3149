import { expect, test } from 'vitest'
import { secretsInServers } from '../../../durable-objects/conversation/turn/secret-values.ts'

const keptIn = (env: Record<string, string>) =>
  secretsInServers({ sse: [], shttp: [], stdio: [{ name: 'program', command: 'x', args: [], env }] })

test('what a variable of a tool server holds that is named like a key is secret, unless it is a short word', () => {
  for (const value of ['s3cret', 'k-1a2b', 'hunter2', 'a b', 'correct.horse.battery', 'AbcdefghijklmnopQrs'])
    expect(keptIn({ MY_KEY: value, NODE_ENV: value })).toEqual([value])
  for (const word of ['created_at', 'name', 'primary-key', 'Key.Name']) expect(keptIn({ SORT_KEY: word })).toEqual([])
})
