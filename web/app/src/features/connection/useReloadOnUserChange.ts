import { useEffect } from 'react'

import { saveItem } from '../../ui/storage.ts'

const KEY = 'majlis.signed-in'

/** All tabs share one session cookie. When another person signs in, tabs of the previous person reload, so that they do not post under the new name. */
export function useReloadOnUserChange(me: string | undefined): void {
  useEffect(() => {
    if (!me) return
    saveItem(KEY, me)
    const onStorage = ({ key, newValue }: StorageEvent) => {
      if (key === KEY && newValue !== null && newValue !== me) location.reload()
    }
    addEventListener('storage', onStorage)
    return () => removeEventListener('storage', onStorage)
  }, [me])
}
