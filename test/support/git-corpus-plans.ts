// The repositories for the test of git: each is made from the files of installed packages, with its own history.

export interface CorpusPlan {
  name: string
  /** Folders below `node_modules`. */
  packages: string[]
  maxFiles: number
  commits: number
  /** Texts of 60 kB and 1 MB, what shrinks to nothing and what does not shrink, 8 MB of bytes. */
  large: ('texts' | 'compressible' | 'incompressible' | 'bytes8')[]
  /** Links, executable bits, odd names, empty files, CRLF. */
  odd: boolean
  /** How the host keeps the objects, and how it sends deltas. */
  packing: 'plain' | 'deep' | 'loose' | 'mixed' | 'ref-deltas'
}

type PlanOptions = Partial<Omit<CorpusPlan, 'name' | 'packages'>>

function plan(name: string, packages: string[], rest: PlanOptions): CorpusPlan {
  return { name, packages, maxFiles: 300, commits: 20, large: [], odd: false, packing: 'plain', ...rest }
}

export const CORPUS: readonly CorpusPlan[] = [
  plan('zod', ['zod'], { maxFiles: 700, commits: 60, packing: 'deep' }),
  plan('hono', ['hono'], { maxFiles: 600, commits: 40, odd: true }),
  plan('vite', ['vite'], { commits: 30, packing: 'ref-deltas' }),
  plan('preact', ['preact'], { commits: 300, packing: 'deep' }),
  plan('just-bash', ['just-bash'], { maxFiles: 500, commits: 12 }),
  plan('isomorphic-git', ['isomorphic-git'], { commits: 25, large: ['texts'], packing: 'mixed' }),
  plan('playwright-core', ['playwright-core'], { commits: 6 }),
  plan('workers-types', ['@cloudflare/workers-types'], { commits: 15, packing: 'deep' }),
  plan('ai', ['ai'], { maxFiles: 800, commits: 20 }),
  plan('ai-openai', ['@ai-sdk/openai'], { commits: 40, odd: true, packing: 'loose' }),
  plan('modelcontextprotocol', ['@modelcontextprotocol/sdk'], { maxFiles: 900, commits: 30, packing: 'ref-deltas' }),
  plan('yaml', ['yaml'], { commits: 500, packing: 'deep' }),
  plan('ignore', ['ignore'], { maxFiles: 5, commits: 3 }),
  plan('diff', ['diff'], { commits: 50, odd: true, packing: 'mixed' }),
  plan('turndown', ['turndown'], { commits: 10, packing: 'loose' }),
  plan('domino', ['@mixmark-io/domino'], { commits: 80, large: ['compressible'] }),
  plan('readability', ['@mozilla/readability'], { maxFiles: 12, commits: 100, packing: 'ref-deltas' }),
  plan('jszip', ['jszip'], { commits: 20, large: ['incompressible'], packing: 'mixed' }),
  plan('fflate', ['fflate'], { commits: 20, large: ['bytes8'] }),
  plan('itty', ['itty-router', 'itty-durable'], { commits: 15, odd: true, large: ['texts'], packing: 'loose' }),
  plan('socket-io', ['socket.io', 'socket.io-client', 'engine.io-parser'], { maxFiles: 600, commits: 35 }),
  plan('indicators', ['technicalindicators', 'indicatorts'], { maxFiles: 1200, commits: 10 }),
  plan('node-types', ['@types/node'], { commits: 20, packing: 'deep' }),
  plan('fast-check', ['fast-check'], { maxFiles: 1500, commits: 8 }),
  plan('vitest', ['vitest'], { commits: 25, large: ['texts', 'compressible'], packing: 'ref-deltas' }),
  plan('wrangler', ['wrangler/templates', 'wrangler/bin', 'miniflare'], { commits: 5 }),
  plan(
    'everything',
    [
      'zod',
      'hono',
      'ai',
      '@modelcontextprotocol',
      'fast-check',
      '@ai-sdk',
      'yaml',
      'indicatorts',
      'technicalindicators',
      'just-bash',
      '@types/node',
      'vite',
      'jszip',
      '@mixmark-io/domino',
      'trading-signals',
      'typescript',
      'vitest',
    ],
    {
      maxFiles: 5000,
      commits: 30,
      odd: true,
    },
  ),
  plan('kitchen-sink', ['turndown', 'ignore'], {
    maxFiles: 60,
    commits: 120,
    odd: true,
    large: ['texts', 'compressible', 'incompressible', 'bytes8'],
    packing: 'deep',
  }),
]
