// The door through which a host of the user's own is asked. The API's address is made from the host, so its origin is what
// the user typed.

import { typedByPerson } from '../lib/chooser.ts'
import type { Door } from '../lib/guarded-fetch.ts'

export type HostDoor = Pick<Door, 'policy' | 'fetch'>

/** `base` is the address of the API. */
export function hostDoor(door: HostDoor, base: string): Door {
  return { ...door, chosenBy: typedByPerson(base) }
}
