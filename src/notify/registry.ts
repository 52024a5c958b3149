// Which kinds of channels there are.

import type { Channel } from './channel.ts'
import { dingtalk } from './channels/dingtalk.ts'
import { discord } from './channels/discord.ts'
import { feishu } from './channels/feishu.ts'
import { gotify } from './channels/gotify.ts'
import { mailgun, resend, sendgrid } from './channels/mail.ts'
import { ntfy } from './channels/ntfy.ts'
import { pushover } from './channels/pushover.ts'
import { pushplus } from './channels/pushplus.ts'
import { serverchan } from './channels/serverchan.ts'
import { slack } from './channels/slack.ts'
import { telegram } from './channels/telegram.ts'
import { webhook } from './channels/webhook.ts'
import { wecom } from './channels/wecom.ts'

export const CHANNELS = {
  wecom,
  dingtalk,
  feishu,
  telegram,
  discord,
  slack,
  pushover,
  ntfy,
  gotify,
  serverchan,
  pushplus,
  resend,
  sendgrid,
  mailgun,
  webhook,
} as const satisfies Record<string, Channel>

export type ChannelKind = keyof typeof CHANNELS

export const CHANNEL_KINDS = Object.keys(CHANNELS) as ChannelKind[]
