// `node:test` inside the isolate, as far as it can be told from Node's by a test file that uses tests, suites, hooks and
// simple mocks.

import { Mocks } from './test-mocks.ts'
import { definitions } from './test-suites.ts'

const { test } = definitions

export const nodeTest = Object.assign(test, definitions, { mock: new Mocks(), default: test })
