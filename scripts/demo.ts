import { runDemo } from './demo/main.ts'

const isSaid = (name: string) => process.argv.includes(name)
process.exitCode = await runDemo({ keep: isSaid('--keep'), agent: isSaid('--agent'), runner: isSaid('--runner') })
