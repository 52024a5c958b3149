import { writeClientTypes } from './client-types/main.ts'

await writeClientTypes()
