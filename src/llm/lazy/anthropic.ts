export { createAnthropic } from '@ai-sdk/anthropic'
