import { useConnection } from '@majlis/client/react'

import { t } from '../../language/words.ts'

/** Shown until the first load is done. Has no text at first, because loading is usually instant. */
export function SplashScreen() {
  const lost = useConnection() === 'lost'
  return (
    <main className="grid h-full place-items-center p-6 text-center">
      <div>
        <img src="/page/icon.svg" alt="" width="48" height="48" className="mx-auto mb-4" />
        <h1 className="unseen">Majlis</h1>
        <p role="status" className="text-ink-soft">{lost ? t('Can’t reach Majlis. Reconnecting…') : ''}</p>
      </div>
    </main>
  )
}
