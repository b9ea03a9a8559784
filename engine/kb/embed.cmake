# Turns a text file into a C array: cmake -DINPUT=a.rng -DOUTPUT=a.c -DNAME=kb_schema_a -P embed.cmake
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"kb/xml.h\"\n\nstatic const unsigned char text[] = {\n${bytes}\n};\nconst struct kb_text ${NAME} = {text, sizeof text};\n")
