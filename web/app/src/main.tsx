import { Store } from '@majlis/client'
import { MajlisProvider } from '@majlis/client/react'
import { createRoot } from 'react-dom/client'

import { App } from './App.tsx'
import { outboxStorage } from './features/composer/outboxStorage.ts'
import { reconnectOnWake } from './features/connection/reconnect.ts'
import './styles/app.css'
import { showSavedTheme } from './theme.ts'
import { ErrorBoundary } from './ui/ErrorBoundary.tsx'

showSavedTheme()
const store = new Store({ outboxStorage, presence: true })
reconnectOnWake(store)
createRoot(document.getElementById('root')!).render(
  <MajlisProvider store={store}>
    <ErrorBoundary>
      <App />
    </ErrorBoundary>
  </MajlisProvider>,
)
