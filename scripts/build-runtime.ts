// Writes src/kits/node-program/runtime.generated.ts. To be run after every change of the modules that it is made from.

import { generatedRuntime, keepRuntime } from './programs/isolate-runtime.ts'

keepRuntime(generatedRuntime())
