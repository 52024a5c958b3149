// Real runners, a real service, and deaths of either in the middle of commands and transfers: a few in the suite, two hundred with
// `npm run proof`. `npm run test:faults -- lent --kills N` tells more.

import { expect, inject, test } from 'vitest'
import { lentBooks, wrongIn } from '../../scripts/faults/lent.ts'

const KILLS = inject('isProof') ? 200 : 5

test(`${KILLS} deaths: no command twice, no outcome lost, every file whole and as it was made, every step ended`, {
  timeout: 60_000 + KILLS * 30_000,
}, async () => {
  const books = await lentBooks({ kills: KILLS, say: () => {} })
  expect(wrongIn(books)).toEqual({
    'commands run twice': [],
    'outcomes lost': [],
    'files that differ': [],
    'torn files': [],
    'stuck steps': [],
    'runners that ended': [],
  })
  expect(books.ended).toBeGreaterThan(books.unknown)
})
