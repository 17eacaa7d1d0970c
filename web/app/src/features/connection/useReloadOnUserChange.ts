import { useEffect } from 'react'

import { keep } from '../../ui/storage.ts'

const KEY = 'majlis.signed-in'

/** All tabs of a browser are signed in as the same person, the last who did so: a page that still shows another would speak in their name. */
export function useReloadOnUserChange(me: string | undefined): void {
  useEffect(() => {
    if (!me) return
    keep(KEY, me)
    const look = ({ key, newValue }: StorageEvent) => {
      if (key === KEY && newValue !== null && newValue !== me) location.reload()
    }
    addEventListener('storage', look)
    return () => removeEventListener('storage', look)
  }, [me])
}
