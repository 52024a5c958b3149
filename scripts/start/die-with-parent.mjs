// Loaded into wrangler before its own code. A supervisor that was killed (SIGKILL) cannot stop its children, so the leader
// of their process group watches it and ends the group, including itself.

import { isMainThread } from 'node:worker_threads'

const CHECK_EVERY_MS = 200
const supervisor = Number(process.env.BELLWETHER_SUPERVISOR)

if (isMainThread) {
  setInterval(() => {
    if (process.ppid !== supervisor) process.kill(-process.pid, 'SIGKILL')
  }, CHECK_EVERY_MS).unref()
}
