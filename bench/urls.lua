-- Walks the lines of the file named by URLS, each thread from another place.
local paths, at = {}, 0
function setup(thread)
  thread:set("offset", math.random(1, 1000000))
end
function init(args)
  for line in io.lines(os.getenv("URLS")) do paths[#paths + 1] = line end
  at = (offset or 0) % #paths
end
function request()
  at = at % #paths + 1
  return wrk.format("GET", paths[at])
end
local bad = 0
function response(status) if status ~= 200 then bad = bad + 1; io.stderr:write("status ", status, "\n") end end
