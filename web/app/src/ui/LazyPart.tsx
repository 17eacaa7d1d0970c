import { Suspense, type ReactNode } from 'react'

import { LoadError, ErrorBoundary } from './ErrorBoundary.tsx'

const CARD = <LoadError className="fixed inset-x-3 top-[12vh] z-50 mx-auto max-w-sm rounded-lg border border-line bg-paper-high shadow-high" />

/** A part of the app that is loaded when it is opened, and that may not come. `over` is for those that lie over the page. */
export function LazyPart({ over = false, children }: { over?: boolean; children: ReactNode }) {
  return <ErrorBoundary {...(over ? { instead: CARD } : {})}><Suspense>{children}</Suspense></ErrorBoundary>
}
