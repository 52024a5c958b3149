// One attack, in a process of its own, so that the one who measures does not wait for the one who attacks. Its work comes last on
// the machine: what is measured is what the service does with the requests, not what it costs to make them.

import { constants, setPriority } from 'node:os'
import type { Target } from './attacker-of-owner.ts'
import { type AttackName, strike } from './attacks.ts'

setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.once('message', async ({ name, target }: { name: AttackName; target: Target }) => {
  process.send?.(await strike(name, target))
  process.disconnect()
  process.exit()
})
