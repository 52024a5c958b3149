// What docs/console.md says of the journeys: how many there are, that each is in its table's files, and that nobody clicks in one.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/source-tree.ts'

const FOLDER = join(ROOT, 'test/e2e')
const files = readdirSync(FOLDER).filter((name) => /^console.*\.test\.ts$|-(?:page|steps)\.ts$/.test(name))
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')

/** By these a test sets focus, value or choice itself, or has a pointer. */
const BY_HAND =
  /\.(?:click|dblclick|tap|fill|selectOption|setChecked|uncheck|focus|pressSequentially)\(|(?<!keyboard)\.press\('|mouse\.(?:click|down|up)|dragTo\(/

/** Not in a journey, or the very thing that is tried. */
const ALLOWED = [
  // The sweep over all pages opens what is folded.
  /^ {2}if \(path\.endsWith\('\/workspace\/files'\)\)/,
  /name: zh \? '(?:历史|分享)' : '(?:History|Share)', exact: true \}\)\.click\(\)$/,
  /^ {4}await place\.locator\('(?:textarea|button\[type="submit"\])'\)\.(?:fill|click)\(/,
  // A control that goes away with the focus.
  /^ {4}button\.focus\(\)$/,
]

test('there are at least 25 journeys, and nobody in one clicks, fills or sets the focus but by the keys', () => {
  const journeys = files.flatMap((name) => textOf(name).match(/^test\('journey: /gm) ?? [])
  expect(journeys.length).toBeGreaterThanOrEqual(25)
  const found = files.flatMap((name) =>
    textOf(name)
      .split('\n')
      .filter((line) => BY_HAND.test(line) && !ALLOWED.some((allowed) => allowed.test(line)))
      .map((line) => `${name}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})
