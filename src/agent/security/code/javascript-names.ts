// The names by which a JavaScript program reaches files, processes and the network.

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Functions of `fs`, with and without `Sync`. */
export const REMOVES = words('rm rmdir rmSync rmdirSync rimraf rimrafSync')
export const UNLINKS = words('unlink unlinkSync truncate truncateSync ftruncate ftruncateSync')
export const CHANGES_MODES = words(
  'chmod chmodSync chown chownSync lchmod lchmodSync lchown lchownSync fchmod fchmodSync fchown fchownSync',
)
export const WRITES_FILES = words(
  'writeFile writeFileSync appendFile appendFileSync createWriteStream copyFile copyFileSync cp cpSync rename renameSync symlink symlinkSync link linkSync mkdir mkdirSync open openSync mkdtemp mkdtempSync outputFile',
)
export const EMPTIES = words('writeFile writeFileSync')

export const FILE_MODULES = words('fs fs/promises node:fs node:fs/promises fs-extra graceful-fs')
export const PROCESS_MODULES = words('child_process node:child_process execa cross-spawn shelljs zx node-pty')
export const NETWORK_MODULES = words(
  'net node:net http node:http https node:https http2 node:http2 tls node:tls dgram node:dgram dns node:dns dns/promises node:dns/promises undici axios node-fetch got ws request superagent ssh2',
)
/** They run made text, or give what nothing is known of. */
export const OPEN_MODULES = words(
  'vm node:vm vm2 worker_threads node:worker_threads cluster node:cluster module node:module inspector node:inspector repl node:repl v8 node:v8 wasi node:wasi process node:process',
)
/** Functions of `child_process` that no other object of daily use has. */
export const STARTS = words('execSync spawnSync execFileSync execFile spawn fork')

export const NETWORK_NAMES = words('fetch XMLHttpRequest WebSocket EventSource')
export const EVALUATES = words('eval Function WebAssembly')

/** Members of `process` that tell something or end the program. */
export const PLAIN_PROCESS = words(
  'argv argv0 cwd exit exitCode version versions platform arch stdout stderr stdin hrtime uptime memoryUsage nextTick on once pid ppid title release cpuUsage emitWarning features config execArgv execPath',
)
/** Objects from which everything can be reached by a computed name. */
export const ROOTS = words('fs process globalThis global module require fsp fsPromises child_process')
