/** Shown while a query has no data: its error, or that it is loading. */
import { t } from '../language/words.ts'

export function QueryStatus({ problem, className = '' }: { problem: string; className?: string }) {
  if (problem) return <p role="alert" className={`text-small text-bad ${className}`}>{problem}</p>
  return <p className={`text-small text-ink-soft ${className}`}>{t('Loading…')}</p>
}
