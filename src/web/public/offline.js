// Stands in a page that stands in for another: looks whether the service is there again, and then goes on to what was asked for.

const LOOKS_EVERY_MS = 3_000
/** Under its own address it stands in for nothing. */
const isStandIn = !/^\/offline(?:\.html)?$/.test(location.pathname)

let isAsked = false

async function look() {
  if (isAsked || document.hidden) return
  isAsked = true
  // No answer at all is what is waited out; what fails in front of the service answers with a status of its own.
  const reply = await fetch('/', { cache: 'no-store' }).catch(() => null)
  isAsked = false
  if (reply !== null && reply.status < 500) location.reload()
}

if (isStandIn) {
  addEventListener('online', look)
  document.addEventListener('visibilitychange', look)
  setInterval(look, LOOKS_EVERY_MS)
}
