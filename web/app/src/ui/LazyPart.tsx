import { Suspense, type ReactNode } from 'react'

import { Broken, Guard } from './ErrorBoundary.tsx'

const CARD = <Broken className="fixed inset-x-3 top-[12vh] z-50 mx-auto max-w-sm rounded-lg border border-line bg-paper-high shadow-high" />

/** A part of the app that is loaded when it is opened, and that may not come. `over` is for those that lie over the page. */
export function Part({ over = false, children }: { over?: boolean; children: ReactNode }) {
  return <Guard {...(over ? { instead: CARD } : {})}><Suspense>{children}</Suspense></Guard>
}
