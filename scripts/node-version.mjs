// The commands run on the Node that the `node` package brings, which npm scripts find first on their path. A direct
// `node scripts/…` on an older one would end in a syntax error; this says what to do instead.

const REQUIRED_MAJOR = 22

/** @param {string} command what to run instead */
export function requireNode(command) {
  if (Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR) return
  console.error(
    `This needs Node ${REQUIRED_MAJOR} and runs on ${process.versions.node}. Run "${command}": it brings its own.`,
  )
  process.exit(1)
}
