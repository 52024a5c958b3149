// One attack, in a separate process, so that it does not delay the measuring process. It has the lowest priority on
// the machine, so that the service's work is measured and not the cost of sending the requests.

import { constants, setPriority } from 'node:os'
import type { Target } from './attacker-of-owner.ts'
import { type AttackName, strike } from './attacks.ts'

setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.once('message', async ({ name, target }: { name: AttackName; target: Target }) => {
  process.send?.(await strike(name, target))
  process.disconnect()
  process.exit()
})
