import type { Message } from '@majlis/client'
import { lazy, Suspense } from 'react'

import { ErrorBoundary } from '../../ui/ErrorBoundary.tsx'
import { fullTime } from '../../ui/time.ts'

const FailedDeliveries = lazy(() => import('./FailedDeliveries.tsx'))

/** A message from the gateway itself, for example that a run failed. */
export function NoticeView({ message }: { message: Message }) {
  return (
    <div className="mt-3 flex flex-wrap gap-x-4 gap-y-1 rounded-md border border-line bg-paper-low px-3 py-2 text-small text-ink-soft" title={fullTime(message.createdAt)}>
      <p className="min-w-48 flex-1 break-words" dir="auto">{message.text}</p>
      {message.replyTo && <ErrorBoundary fallback={null}><Suspense><FailedDeliveries spaceId={message.spaceId} messageId={message.replyTo} /></Suspense></ErrorBoundary>}
    </div>
  )
}
