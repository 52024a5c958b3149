import { availableParallelism } from 'node:os'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

const migrations = await readD1Migrations('migrations')

/** Whether everything is to be proved, with new made-up inputs: `npm run proof`. */
const provide = { isProof: process.env.PROOF === '1' }

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: migrations,
                AUTH_MODE: 'keys',
                ROOT_API_KEY: 'root-key-for-tests-0123456789abcdef',
                SECRETS_KEY: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
                MARKET_DATA: 'sample',
                FX_RATES: 'off',
                KEY_CACHE_SECONDS: '0',
                // The git host of the tests.
                ALLOW_PRIVATE_NETWORK: '127.0.0.1',
                LOG_LEVEL: 'silent',
                // Many tests send large bodies one after the other.
                MAX_LARGE_BODY_BYTES_PER_SECOND: '0',
                // Nobody waits 8 s for a scripted model.
                LLM_RETRY_MIN_SECONDS: '0.2',
                LLM_RETRY_MAX_SECONDS: '1',
              },
            },
          }),
        ],
        test: {
          name: 'workers',
          provide,
          include: ['test/unit/**/*.test.ts', 'test/integration/**/*.test.ts', 'test/contract/**/*.test.ts'],
          setupFiles: ['test/helpers/setup.ts', 'test/helpers/fixed-seed.ts'],
          globalSetup: [
            'test/support/git-server.ts',
            'test/support/provider-host.ts',
            'test/support/mcp-servers.ts',
            'test/support/scripted-model.ts',
            'test/support/notify-host.ts',
            'test/support/real-shell.ts',
          ],
          // Only what hangs is to fail by the clock, also on a slow machine.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          // A runtime for each of two cores; each keeps what it loaded from file to file.
          isolate: false,
          maxWorkers: Math.min(2, availableParallelism()),
          // The package mixes the two module systems in a way that only a bundler can read.
          deps: { optimizer: { ssr: { enabled: true, include: ['itty-durable'] } } },
        },
      },
      {
        test: {
          name: 'node',
          provide,
          setupFiles: ['test/helpers/fixed-seed.ts'],
          include: ['test/node/**/*.test.ts', 'test/simulation/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          maxWorkers: Math.min(2, availableParallelism()),
          // After the other project, which has a runtime on each core.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          provide,
          setupFiles: ['test/helpers/fixed-seed.ts'],
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          // Servers and browsers of their own, which wait more than they work.
          maxWorkers: Math.min(2, availableParallelism()),
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'runner',
          include: ['runner/test/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          // Processes of their own, some hundreds of them.
          maxWorkers: Math.min(2, availableParallelism()),
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'client',
          include: ['client/test/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          maxWorkers: Math.min(2, availableParallelism()),
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
