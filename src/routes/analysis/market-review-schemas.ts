import { z } from '@hono/zod-openapi'
import { laxBool } from '../../http/validation.ts'
import { ReportLanguage } from '../../reports/report.ts'
import { strictRegions } from '../../review/regions.ts'

const MAX_REGION = 64

/** The regions of a request, as one text. */
export const RegionText = z
  .string()
  .min(1)
  .max(MAX_REGION)
  .refine((text) => strictRegions(text) !== null, {
    error: 'regions are cn, hk, us, jp, kr and tw, separated by commas, or the single word both',
  })

export const MarketReviewRequest = z
  .object({
    send_notification: laxBool().default(true),
    report_language: ReportLanguage.nullish(),
    reportLanguage: ReportLanguage.nullish().describe('Another name of `report_language`'),
    region: RegionText.nullish().describe('`cn`, `hk`, `us`, `jp`, `kr`, `tw`, several with commas, or `both`'),
  })
  .openapi('MarketReviewRequest')

export const MarketReviewAccepted = z
  .object({
    status: z.literal('accepted'),
    message: z.string(),
    send_notification: z.boolean(),
    region: z.string(),
    task_id: z.string(),
    trace_id: z.string(),
  })
  .openapi('MarketReviewAccepted')
