import type { ChannelKind } from '../../../src/notify/registry.ts'
import { SECRET } from '../../support/notify-secret.ts'

/** Settings that the services of the tests accept, by kind; the argument is where a lane of theirs begins. */
export const SETTINGS: Record<ChannelKind, (lane: string) => Record<string, unknown>> = {
  wecom: (lane) => ({ webhook_url: `${lane}/wecom/send?key=wecom-key-0123456789` }),
  dingtalk: (lane) => ({ webhook_url: `${lane}/dingtalk/send?access_token=ding-0123456789`, secret: SECRET }),
  feishu: (lane) => ({ webhook_url: `${lane}/feishu/hook/feishu-0123456789`, secret: SECRET }),
  telegram: (lane) => ({ bot_token: '12345:telegram-token', chat_id: '-100', api_url: `${lane}/telegram` }),
  discord: (lane) => ({ webhook_url: `${lane}/discord/hooks/1/discord-0123456789` }),
  slack: (lane) => ({ webhook_url: `${lane}/slack/services/slack-0123456789` }),
  pushover: (lane) => ({ token: 'app', user: 'me', api_url: `${lane}/pushover` }),
  ntfy: (lane) => ({ url: `${lane}/ntfy`, topic: 'stocks', token: 'tk_1' }),
  gotify: (lane) => ({ url: `${lane}/gotify`, token: 'app' }),
  serverchan: (lane) => ({ key: 'SCT1', api_url: `${lane}/serverchan` }),
  pushplus: (lane) => ({ token: 'pp', api_url: `${lane}/pushplus` }),
  resend: (lane) => ({
    api_key: 're_1',
    from: 'Reports <r@example.com>',
    to: ['a@example.com'],
    api_url: `${lane}/resend`,
  }),
  sendgrid: (lane) => ({
    api_key: 'SG.1',
    from: 'Reports <r@example.com>',
    to: ['a@example.com'],
    api_url: `${lane}/sendgrid`,
  }),
  mailgun: (lane) => ({
    api_key: 'mg-1',
    domain: 'mg.example.com',
    from: 'r@example.com',
    to: ['a@example.com', 'b@example.com'],
    api_url: `${lane}/mailgun`,
  }),
  webhook: (lane) => ({ url: `${lane}/webhook/in`, token: 'hook', secret: SECRET }),
}
