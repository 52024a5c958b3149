// How a conversation's browser is started: the location of Chromium, its restrictions and its sandbox. There are three
// layers: the conversation's network, which has only its own loopback and the runner's proxy; the sandbox, which
// contains no file of the conversation; and Chromium's policies, set as by an administrator.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { CHROME_FOLDER } from '../sandbox/bwrap.ts'
import type { ConversationFolders, LaunchPlan } from '../sandbox/launch.ts'
import { writeBrowserStart } from '../sandbox/launch.ts'
import { PROXY_PORT } from '../sandbox/own-network.ts'
import { writeRunFiles } from '../sandbox/run-files.ts'
import { erase } from '../sync/erase.ts'
import { isCode } from '../sync/folder.ts'
import { versionOf } from '../tools.ts'

export type BrowserPlace = {
  readonly folder: string
  readonly downloads: string
  readonly start: string
  readonly pidFile: string
  readonly folders: ConversationFolders
}

/** The programs themselves: the one in the path is often a script that reads files outside the sandbox. */
export const PROGRAMS: readonly string[] = [
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/usr/lib/chromium-browser/chromium-browser',
  // Google's own package, on every distribution.
  `${CHROME_FOLDER}/chrome`,
]

/** Null if the machine has none that can run in a sandbox. */
export function findChromium(
  path: string,
  programs: readonly string[] = PROGRAMS,
): { readonly file: string; readonly version: string } | null {
  for (const file of programs.filter((program) => existsSync(program))) {
    const version = versionOf(file, ['--version'], { PATH: path, HOME: tmpdir() })
    if (version !== null) return { file, version }
  }
  return null
}

/**
 * The driver creates an empty folder for each profile; the profile's files are in the sandbox's memory. A killed runner
 * does not remove the folder.
 */
export function sweepProfiles(): void {
  const used = usedProfiles()
  for (const name of readdirSync(tmpdir())) {
    if (!/^playwright_chromiumdev_profile-\w+$/.test(name)) continue
    const path = join(tmpdir(), name)
    try {
      // Belongs to another runner with a running or starting browser.
      if (used.has(path) || Date.now() - statSync(path).mtimeMs < STARTING_MS) continue
      rmdirSync(path)
    } catch (error) {
      // It belongs to another user, is in use, or was removed.
      if (!isCode(error, 'EACCES', 'EPERM', 'ENOTEMPTY', 'ENOENT', 'ENOTDIR')) throw error
    }
  }
}

const STARTING_MS = 2_000

/** Empty if there is no `/proc`. */
function usedProfiles(): Set<string> {
  if (!existsSync('/proc/self')) return new Set()
  const lines = readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? [commandOf(pid)] : []))
  return new Set(lines.flatMap((line) => /--user-data-dir=([^\0 ]+)/.exec(line)?.[1] ?? []))
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch (error) {
    // The process has ended, or is hidden from this user.
    if (isCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return ''
    throw error
  }
}

const REFUSED = 2
/** Chromium's enterprise policies: no page and no argument can change them. */
const POLICY = {
  URLBlocklist: ['*'],
  URLAllowlist: ['http://*', 'https://*', 'about:blank', 'about:srcdoc', 'blob:*'],
  DefaultNotificationsSetting: REFUSED,
  DefaultGeolocationSetting: REFUSED,
  DefaultWebBluetoothGuardSetting: REFUSED,
  DefaultWebUsbGuardSetting: REFUSED,
  DefaultWebHidGuardSetting: REFUSED,
  DefaultSerialGuardSetting: REFUSED,
  DefaultFileSystemReadGuardSetting: REFUSED,
  DefaultFileSystemWriteGuardSetting: REFUSED,
  DefaultSensorsSetting: REFUSED,
  DefaultLocalFontsSetting: REFUSED,
  DefaultWindowManagementSetting: REFUSED,
  DefaultClipboardSetting: REFUSED,
  AudioCaptureAllowed: false,
  VideoCaptureAllowed: false,
  ScreenCaptureAllowed: false,
  PrintingEnabled: false,
  PasswordManagerEnabled: false,
  AutofillAddressEnabled: false,
  AutofillCreditCardEnabled: false,
  BackgroundModeEnabled: false,
  MetricsReportingEnabled: false,
  ComponentUpdatesEnabled: false,
  SafeBrowsingProtectionLevel: 0,
  SyncDisabled: true,
  BrowserSignin: 0,
  QuicAllowed: false,
  DnsOverHttpsMode: 'off',
  WebRtcIPHandling: 'disable_non_proxied_udp',
  ExtensionInstallBlocklist: ['*'],
} as const

export const BROWSER_ARGS = [
  '--disable-gpu',
  '--renderer-process-limit=6',
  '--js-flags=--max-old-space-size=512',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
]

/** With this argument of the library, pages could open windows themselves. */
export const REFUSED_ARGS = ['--disable-popup-blocking']

/**
 * Servers of the conversation itself are reached directly; all other addresses, including link-local ones, go through
 * the proxy.
 */
export const proxyOf = ({ network }: LaunchPlan) =>
  network === 'list'
    ? { server: `http://127.0.0.1:${PROXY_PORT}`, bypass: 'localhost,*.localhost,127.0.0.1,[::1]' }
    : undefined

/** Creates empty folders; files of an earlier browser are removed. */
export function makeBrowserPlace(
  folder: string,
  { folders, plan }: { folders: ConversationFolders; plan: LaunchPlan },
): BrowserPlace {
  erase(dirname(folder), basename(folder))
  const at = (name: string) => join(folder, name)
  const own = { workspace: at('place'), home: at('home'), run: at('run'), shared: at('downloads') }
  for (const path of [...Object.values(own), at('artifacts'), join(own.run, 'policies', 'managed')])
    mkdirSync(path, { recursive: true, mode: 0o700 })
  writeRunFiles(own.run, plan)
  writeFileSync(join(own.run, 'policies', 'managed', 'rules.json'), JSON.stringify(POLICY))
  const network = folders.network
  const place = { ...own, ...(network === undefined ? {} : { network }) }
  return { folder, downloads: own.shared, start: at('start'), pidFile: at('pid'), folders: place }
}

/**
 * Returns its environment variables. Written for each start, because the command that enters the network contains a
 * process id.
 */
export function writeStart(
  program: string,
  { start, pidFile, folders }: BrowserPlace,
  plan: LaunchPlan,
): Record<string, string> {
  rmSync(pidFile, { force: true })
  return writeBrowserStart({ program, start, pid: pidFile }, { folders, plan }).env
}
