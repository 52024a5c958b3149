// The browsable API document. A page of its own, so that the console never carries the weight of it.

import 'swagger-ui-dist/swagger-ui.css'
import './docs.css'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

SwaggerUI({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  // The validator badge would be fetched from another host.
  validatorUrl: null,
  tryItOutEnabled: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
})
