import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '../../http/app-env.ts'
import { markUnused } from './access.ts'
import { continueChat } from './continue-chat.ts'
import { making, reading } from './conversations.ts'
import { eventReading, eventWriting } from './events.ts'
import { extras } from './extras.ts'
import { feedback } from './feedback.ts'
import { files } from './files.ts'
import { git } from './git.ts'
import { changing, forking, running } from './lifecycle.ts'
import { options } from './options.ts'
import { providerTokens } from './provider-tokens.ts'
import { secrets } from './secrets.ts'
import { security } from './security.ts'
import { settings } from './settings.ts'
import { shares } from './shares.ts'
import { socket, socketIo } from './socket.ts'
import { trajectory } from './trajectory.ts'
import { user } from './user.ts'
import { userRepository } from './user-repository.ts'

/** The conversation family. */
export const conversationRoutes = new OpenAPIHono<AppEnv>()

conversationRoutes.use('/api/conversations/:conversation_id/*', markUnused)

for (const part of [
  options,
  continueChat,
  making,
  reading,
  changing,
  running,
  forking,
  eventReading,
  eventWriting,
  files,
  git,
  socket,
  socketIo,
  extras,
  trajectory,
  feedback,
  security,
  shares,
  settings,
  providerTokens,
  secrets,
  user,
  userRepository,
]) {
  conversationRoutes.route('/', part)
}
