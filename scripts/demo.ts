import { runDemo } from './demo/main.ts'

process.exitCode = await runDemo({ keep: process.argv.includes('--keep'), agent: process.argv.includes('--agent') })
