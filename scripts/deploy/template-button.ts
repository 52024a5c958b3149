// The button that copies this repository into a user's account and deploys it. It needs a public address, which is defined only
// here. While it is null no document shows a button; a test compares them.

/** `https://github.com/<owner>/<repository>`; null while there is none. */
export const TEMPLATE_ADDRESS: string | null = null

const SERVICE = 'https://deploy.workers.cloudflare.com'

/** As Markdown, for README.md and README.zh.md; null without an address. */
export function templateButton(address = TEMPLATE_ADDRESS): string | null {
  if (address === null) return null
  return `[![Deploy to Cloudflare](${SERVICE}/button)](${SERVICE}/?url=${encodeURI(address)})`
}
