import { useId } from 'react'

import { t } from '../../language/words.ts'

const HEIGHT = 48
const DAY = 86_400_000

export interface Bar {
  /** For example 2026-11-16. */
  day: string
  total: number
  /** The lighter part of the bar. */
  light?: number
  label: string
}

/** One bar per day, ending today. Days without data are gaps. */
export function DayChart({ title, bars, days, peak, caption }: { title: string; bars: readonly Bar[]; days: number; peak: string; caption: string }) {
  const id = useId()
  const today = Math.floor(Date.now() / DAY)
  const highest = Math.max(...bars.map((bar) => bar.total), Number.MIN_VALUE)
  const width = 100 / days
  return (
    <figure aria-labelledby={id}>
      <figcaption id={id} className="mb-1 flex items-baseline justify-between gap-2 text-tiny text-ink-soft">
        <span>{title}</span>
        <span className="tabular-nums">{t('peak {peak}/day', { peak })}</span>
      </figcaption>
      <svg role="img" aria-label={`${title}: ${bars.map((bar) => bar.label).join('; ')}`} viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" className="h-12 w-full border-b border-line rtl:-scale-x-100">
        {bars.map((bar) => {
          const x = (days - 1 - (today - Date.parse(bar.day) / DAY)) * width
          const tall = (value: number) => (value / highest) * HEIGHT
          return (
            <g key={bar.day}>
              <title>{bar.label}</title>
              <rect x={x} y={HEIGHT - tall(bar.total)} width={width * 0.8} height={tall(bar.total)} className="fill-agent" />
              {bar.light !== undefined && <rect x={x} y={HEIGHT - tall(bar.light)} width={width * 0.8} height={tall(bar.light)} className="fill-agent-mid" />}
            </g>
          )
        })}
      </svg>
      <p className="mt-1 text-tiny text-ink-soft">{caption}</p>
    </figure>
  )
}
