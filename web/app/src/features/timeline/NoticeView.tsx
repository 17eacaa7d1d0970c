import type { Message } from '@majlis/client'
import { lazy, Suspense } from 'react'

import { ErrorBoundary } from '../../ui/ErrorBoundary.tsx'
import { fullTime } from '../../ui/time.ts'

const FailedDeliveries = lazy(() => import('./FailedDeliveries.tsx'))

/** What the gateway itself has to say: a chain that ended, a run that failed and may be tried again. */
export function NoticeView({ message }: { message: Message }) {
  return (
    <div className="mt-3 flex flex-wrap gap-x-4 gap-y-1 rounded-md border border-line bg-paper-low px-3 py-2 text-small text-ink-soft" title={fullTime(message.createdAt)}>
      <p className="min-w-48 flex-1 break-words" dir="auto">{message.text}</p>
      {message.replyTo && <ErrorBoundary instead={null}><Suspense><FailedDeliveries spaceId={message.spaceId} messageId={message.replyTo} /></Suspense></ErrorBoundary>}
    </div>
  )
}
