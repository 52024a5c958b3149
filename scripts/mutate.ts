// Changes production code in one place at a time and looks whether the tests notice.
//
//   npm run mutate -- --seed 1,2,3 --count 30 [--only <pattern of paths>] [--tests <pattern of paths>]
//     [--budget <seconds>] [--afresh | --as-kept]
//
// The same seed picks the same places of the same tree. A mutant that the compiler refuses is counted apart and another one is
// picked; so is one that cannot change behaviour, which was looked at and stands with its reason in mutate/equivalents.json.
// The tests of a mutant are those that call the function it is in, as one run of the suite has shown. One that never ends is
// noticed. A test that fails without the mutant as well catches nothing, and a mutant whose tests do not start is counted apart as
// an error. All happens in a copy of the tree in the system's folder of temporary files.
//
// `--as-kept` takes the record of who calls what as it is, and imports where there is none: dear tests are not run to record them.
// A verdict is kept beside the packages while the mutated file and the tests that decided it are as they were, so that a run that
// was stopped goes on; `--afresh` forgets both. `--budget` is what the tests of one mutant may take without it, 180 s.

import { requireNode } from './node-version.mjs'

requireNode('npm run mutate')
const { main } = await import('./mutate/main.ts')
await main(process.argv.slice(2))
